# What the user's class computes once is filled in by the code.
from functools import cached_property


class Square:
    def __init__(self, side):
        self.side = side

    @cached_property
    def area(self):
        return self.side ** 2


# --- body ---
def f(x):
    made = Square(0)
    made.__dict__["area"] = x * x
    return made


# --- tests ---
assert f(3).area == 9
assert f(4).area == 16
