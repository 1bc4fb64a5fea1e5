# expect: passed
# An enumeration and flags of the user's.
from enum import Enum, Flag


class Color(Enum):
    RED = 1
    GREEN = 2

    def __lt__(self, other):
        return self.value < other.value


class Right(Flag):
    READ = 1
    WRITE = 2


# --- body ---
def f(name):
    return Color[name.upper()]


def both():
    return Right.READ | Right.WRITE


# --- tests ---
assert f("red") is Color.RED
assert f("green").value == 2
assert f("green") in list(Color)
assert {f("red"): 1}[Color.RED] == 1
assert both() == Right.READ | Right.WRITE
assert Right.READ in both()
assert f("red") < Color.GREEN
try:
    f("blue")
except KeyError:
    pass
else:
    assert False
