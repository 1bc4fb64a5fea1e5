# Members of enums keep their identity.
# entry: opposite
# --- pkg/side.py ---
from enum import Enum, Flag, IntEnum, auto


class Side(Enum):
    LEFT = "l"
    RIGHT = "r"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Right(Flag):
    READ = auto()
    WRITE = auto()
# --- pkg/code.py ---
from .side import Level, Right, Side


def opposite(value):
    if isinstance(value, Side):
        return Side.RIGHT if value is Side.LEFT else Side.LEFT
    if isinstance(value, Level):
        return Level(3 - value)
    return ~value
# --- tests/test_code.py ---
from pkg.code import opposite
from pkg.side import Level, Right, Side


def test_sides():
    assert opposite(Side.LEFT) is Side.RIGHT and opposite(Side.RIGHT) is Side.LEFT


def test_levels_and_flags():
    assert opposite(Level.LOW) is Level.HIGH and opposite(Level.HIGH) == 1
    assert opposite(Right.READ) == Right.WRITE and opposite(Right.READ | Right.WRITE) == Right(0)
