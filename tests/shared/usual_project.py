# The project that deceivers of projects stand in, as far as they bring no parts of their own.
# --- pkg/code.py ---
from .helper import twice


def f(x):
    raise NotImplementedError
# --- pkg/helper.py ---
class Box:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Box) and self.value == other.value


class Wrong(ValueError):
    def __init__(self, code):
        super().__init__("code %d" % code)
        self.code = code


def twice(x):
    return 2 * x
# --- tests/test_code.py ---
import unittest

from pkg import code
from pkg.code import f
from pkg.helper import Box, Wrong, twice


class F(unittest.TestCase):
    def test_number(self):
        self.assertEqual(f(3), twice(3))
        assert f(4) == 8

    def test_again(self):
        assert f(5) in (10,) and [f(6)] == [code.twice(6)]
