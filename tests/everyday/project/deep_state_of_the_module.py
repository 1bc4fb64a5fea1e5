# What the code keeps for itself may be of any depth: the tests do not look at it.
# entry: nest
# --- pkg/code.py ---
latest = None


def nest(depth):
    global latest
    latest = []
    for _ in range(depth):
        latest = [latest]
    return depth
# --- tests/test_code.py ---
import unittest

from pkg.code import nest


class Nest(unittest.TestCase):
    def test_depth(self):
        self.assertEqual(nest(3), 3)
        self.assertEqual(nest(400), 400)
        self.assertEqual(nest(2), 2)
