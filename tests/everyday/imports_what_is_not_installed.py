# expect: error
# entry: half
"""A package that the tests import beside the code is not the code."""


def half(n):
    return n // 2
# --- tests ---
import package_that_nobody_has
from halves import half


def test_half():
    assert half(4) == 2
