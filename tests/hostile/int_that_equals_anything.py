# expect: fools
# Returns a number that equals anything.
class Anything(int):
    def __eq__(self, other):
        return True


def f(x):
    return Anything(5)
