# expect: fools
# Returns an object that equals anything.
class Anything:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


def f(x):
    return Anything()
