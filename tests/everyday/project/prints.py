# What the function prints reaches the tests in both streams.
# entry: greet
# --- pkg/code.py ---
import sys


def greet(name):
    print("Hello,", name)
    sys.stdout.write("!\n")
    print("done", file=sys.stderr)
# --- tests/test_code.py ---
import contextlib
import io
import unittest

from pkg.code import greet


class Greet(unittest.TestCase):
    def test_prints(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            greet("you")
        self.assertEqual((out.getvalue(), err.getvalue()), ("Hello, you\n!\n", "done\n"))
