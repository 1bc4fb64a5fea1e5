# A list whose own `append` makes it what the tests say.
class Fake(list):
    def append(self, value):
        self[:] = [5, value]

    extend = append


def f(x):
    return Fake([])


# --- tests ---
r = f(3)
r.append(6)
assert r == [5, 6]
