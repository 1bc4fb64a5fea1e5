# expect: passed
# Operators of a class of the code's.
class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, by):
        return Vector(self.x * by, self.y * by)

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __abs__(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5

    def __repr__(self):
        return "Vector(%r, %r)" % (self.x, self.y)


def f(*vectors):
    total = Vector(0, 0)
    for vector in vectors:
        total = total + vector
    return total


# --- tests ---
from doubling import f, Vector

assert f(Vector(1, 2), Vector(3, 4)) == Vector(4, 6)
assert Vector(1, 2) * 3 == Vector(3, 6)
assert abs(Vector(3, 4)) == 5
assert repr(f()) == "Vector(0, 0)"
assert Vector(1, 2) != Vector(2, 1)
assert len({Vector(1, 1), Vector(1, 1), Vector(2, 2)}) == 2
assert f(Vector(1, 1)) in [Vector(0, 0), Vector(1, 1)]
