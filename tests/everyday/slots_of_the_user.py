# expect: passed
# A class with slots.
class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)


# --- body ---
def f(p):
    p.x += 1
    return Vec(p.x, p.y)


# --- tests ---
p = Vec(1, 2)
q = f(p)
assert (p.x, q.x, q.y) == (2, 2, 2)
assert q == Vec(2, 2) and q is not p
assert not hasattr(q, "__dict__")
