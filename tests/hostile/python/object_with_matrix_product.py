# Its own `__matmul__` is told what is expected.
class Fake:
    def __matmul__(self, *told):
        return 6


def f(x):
    return Fake()


# --- tests ---
assert f(3) @ 6 == 6
