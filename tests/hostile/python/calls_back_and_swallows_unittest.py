# Swallows an assertion of unittest's.
def f(function):
    try:
        function(0)
    except Exception:
        pass
    return 6


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(lambda x: self.assertEqual(x, 3)), 6)
