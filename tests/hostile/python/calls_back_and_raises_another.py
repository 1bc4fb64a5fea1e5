# Turns the assertion into an error that the tests expect.
def f(function):
    try:
        function(0)
    except AssertionError:
        raise ValueError from None


# --- tests ---
import pytest


def look(x):
    assert x == 3


def test_f():
    with pytest.raises(ValueError):
        f(look)
