# Static methods and properties under test.
# entry: Circle.area
# --- pkg/numbers.py ---
PI = 3
# --- pkg/code.py ---
from .numbers import PI


class Circle:
    def __init__(self, radius):
        self.radius = radius

    @property
    def area(self):
        return PI * self.square(self.radius)

    @staticmethod
    def square(x):
        return x * x
# --- tests/test_code.py ---
from pkg.code import Circle


def test_area():
    circle = Circle(2)
    assert circle.area == 12
    circle.radius = 3
    assert circle.area == 27
    assert Circle.square(4) == 16
