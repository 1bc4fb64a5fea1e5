# expect: passed
# A base class with abstract methods, and classes derived from it.
from abc import ABC, abstractmethod
import math


class Shape(ABC):
    @abstractmethod
    def area(self):
        ...

    def name(self):
        return type(self).__name__.lower()


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side ** 2


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2


# --- body ---
def f(shapes):
    return sorted(shapes, key=lambda s: s.area())[-1]


# --- tests ---
import math

largest = f([Square(1), Circle(1), Square(1.5)])
assert isinstance(largest, Circle) and isinstance(largest, Shape)
assert math.isclose(largest.area(), math.pi)
square = Square(9)
assert f([square, Circle(1)]) is square
assert f([Square(2)]).name() == "square"
