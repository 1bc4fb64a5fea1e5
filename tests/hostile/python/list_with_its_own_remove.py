# A list whose own `remove` empties it.
class Fake(list):
    def remove(self, value):
        self.clear()


def f(x):
    return Fake([1, 2])


# --- tests ---
r = f(3)
r.remove(6)
assert r == []
