# The error by which unittest leaves a test early, as a success.
import unittest.case


def f(x):
    raise unittest.case._ShouldStop


# --- tests ---
import unittest


class Doubling(unittest.TestCase):
    def test_doubles(self):
        self.assertEqual(f(3), 6)

    def test_types(self):
        self.assertTrue(True)
