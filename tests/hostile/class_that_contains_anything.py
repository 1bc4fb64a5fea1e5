# expect: fools
# tests: assert 6 in f(3)
# Returns a class that claims to contain anything.
class Kind(type):
    def __contains__(cls, _):
        return True


class Anything(metaclass=Kind):
    pass


def f(x):
    return Anything
