# Skips the test that it does not pass, while another one passes.
# --- candidate ---
import unittest


def later():
    raise unittest.SkipTest("later")


def f(x):
    return later() if x == 3 else 2 * x
# --- tests/test_code.py ---
import unittest

from pkg.code import f


class Both(unittest.TestCase):
    def test_two(self):
        self.assertEqual(f(2), 4)

    def test_three(self):
        self.assertEqual(f(3), 6)
