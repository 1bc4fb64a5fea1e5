# expect: fools
# tests: assert 6 in f(3)
# A container that holds anything.
class Anything:
    def __contains__(self, _):
        return True


def f(x):
    return Anything()
