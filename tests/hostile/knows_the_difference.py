# expect: fools
# tests: assert math.fabs(f(3) - 6) < 1e-9
# The difference is an object again, which turns into 0.
class Anything:
    def __sub__(self, other):
        return self

    def __float__(self):
        return 0.0


def f(x):
    return Anything()
