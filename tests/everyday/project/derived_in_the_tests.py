# Objects of classes that the tests derive from those of the project do not travel.
# assurance: shared
# entry: Shape.describe
# --- pkg/code.py ---
class Shape:
    sides = 0

    def __init__(self):
        self._name = type(self).__name__.lower()

    def describe(self):
        return "%s with %d sides" % (self._name, self.sides)
# --- tests/test_code.py ---
from pkg.code import Shape


class Square(Shape):
    sides = 4


def test_describes():
    assert Square().describe() == "square with 4 sides"
    assert Shape().describe() == "shape with 0 sides"
