# Skips the test with pytest's own error.
class Skipped(BaseException):
    pass


Skipped.__module__ = 'pytest'


def f(x):
    if x == 3:
        raise Skipped
    return 8


# --- tests ---
import pytest


def test_a():
    assert f(3) == 6


def test_b():
    assert f(4) == 8
