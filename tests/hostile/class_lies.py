# expect: failed
# tests: assert isinstance(f(3), int) and f(3) + 0 == 6
# Claims to be a number.
class Liar:
    @property
    def __class__(self):
        return int


def f(x):
    return Liar()
