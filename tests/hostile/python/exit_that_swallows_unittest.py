# The same with unittest's assertion.
class f:
    def __init__(self, x):
        pass

    def __enter__(self):
        return 0

    def __exit__(self, *_):
        return True


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_f(self):
        with f(3) as value:
            self.assertEqual(value, 6)
