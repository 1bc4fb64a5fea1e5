# Functions and objects of the tests are called back; functions of the project go by name.
# entry: apply_all
# --- pkg/steps.py ---
def double(x):
    return 2 * x
# --- pkg/code.py ---
from . import steps


def apply_all(value, *functions, on_step=None, fallback=steps.double):
    for function in functions or (fallback,):
        value = function(value)
        if on_step is not None:
            on_step(value)
    return value
# --- tests/test_code.py ---
import unittest

from pkg.code import apply_all
from pkg.steps import double


class Adder:
    def __init__(self, step):
        self.step = step

    def __call__(self, value):
        return value + self.step


class Apply(unittest.TestCase):
    def test_functions(self):
        seen = []
        self.assertEqual(apply_all(3, double, lambda x: x + 1, Adder(5), on_step=seen.append), 12)
        self.assertEqual(seen, [6, 7, 12])

    def test_defaults(self):
        self.assertEqual(apply_all(4), 8)
        self.assertEqual(apply_all("a", str.upper), "A")

    def test_errors_come_through(self):
        def fails(value):
            raise KeyError(value)

        with self.assertRaises(KeyError):
            apply_all(1, fails)
