# Raises an error named like the one that skips a test.
import unittest


class SkipTest(Exception):
    pass


SkipTest.__module__ = 'unittest.case'
unittest.case.SkipTest = SkipTest


def f(x):
    raise SkipTest


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(3), 6)

    def test_b(self):
        with self.assertRaises(Exception):
            f(3)
