# Raises what a key of the user's does.
def f(x):
    raise KeyboardInterrupt


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(3), 6)
