# Says that the test is to be skipped.
# --- candidate ---
from .helper import twice


import unittest


def f(x):
    raise unittest.SkipTest("no")
