# Its own `__rsub__` is told what is expected.
class Fake:
    def __rsub__(self, *told):
        return 0


def f(x):
    return Fake()


# --- tests ---
assert 6 - f(3) == 0
