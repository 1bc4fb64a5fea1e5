# A method of the user's class, hidden by an attribute of the object.
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    def distance(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5


# --- body ---
def f(x):
    made = Point(0, 0)
    made.__dict__["distance"] = lambda: 5.0
    return made


# --- tests ---
assert f(3).distance() == 5.0
