# expect: passed
# What the code prints, by unittest's side.
def f(n):
    for i in range(n):
        print(i, end=' ')


# --- tests ---
import contextlib
import io
import unittest


class T(unittest.TestCase):
    def test_prints(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            f(3)
        self.assertEqual(said.getvalue().strip(), "0 1 2")
