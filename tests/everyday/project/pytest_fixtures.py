# Fixtures, parameters, `capsys` and `raises` of pytest.
# needs: pytest
# entry: area
# --- pkg/shape.py ---
class Shape:
    def __init__(self, *sides):
        self.sides = sides
# --- pkg/code.py ---
import warnings

from .shape import Shape


def area(shape, unit="m", loud=False):
    if not isinstance(shape, Shape):
        raise TypeError("a %s is no shape" % type(shape).__name__)
    if loud:
        print("area of", shape.sides)
    product = 1
    for side in shape.sides:
        product *= side
    return "%g %s2" % (product, unit)
# --- tests/conftest.py ---
import pytest

from pkg.shape import Shape


@pytest.fixture
def square():
    return Shape(2, 2)
# --- tests/test_code.py ---
import pytest

from pkg.code import area
from pkg.shape import Shape


@pytest.mark.parametrize("sides, expected", [((1, 2), "2 m2"), ((1.5, 2), "3 m2"), ((0, 9), "0 m2")])
def test_areas(sides, expected):
    assert area(Shape(*sides)) == expected


class TestSquare:
    def test_unit(self, square):
        assert area(square, unit="cm") == "4 cm2"

    def test_loud(self, square, capsys):
        assert area(square, loud=True) == "4 m2"
        assert capsys.readouterr().out == "area of (2, 2)\n"


def test_refused():
    with pytest.raises(TypeError, match="a str is no shape"):
        area("square")
