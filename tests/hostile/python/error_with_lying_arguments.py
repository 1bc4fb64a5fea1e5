# An error whose arguments equal anything.
class Any:
    def __eq__(self, other):
        return True


def f(x):
    raise ValueError(Any())


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_f(self):
        with self.assertRaises(ValueError) as caught:
            f(3)
        self.assertEqual(caught.exception.args, (6,))
