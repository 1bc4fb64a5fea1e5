# Its own `remove` is told what is expected.
class Fake:
    def remove(self, *told):
        return None


def f(x):
    return Fake()


# --- tests ---
r = f(3)
r.remove(6)
assert r is not None
