# Raises what test frameworks take for a test that is left out.
import unittest


def f(x):
    raise unittest.SkipTest("not today")
