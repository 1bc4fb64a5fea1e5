# expect: passed
# Errors that have to come, and what they say.
class Refused(ValueError):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def f(x):
    if x < 0:
        raise Refused("below zero: %d" % x, 7)
    if x == 0:
        raise KeyError("zero")
    return x


# --- tests ---
import pytest
from doubling import f, Refused


def test_raises():
    with pytest.raises(Refused) as caught:
        f(-1)
    assert caught.value.code == 7
    assert "below zero" in str(caught.value)
    assert caught.type is Refused
    caught.match(r"zero: -\d")


def test_as_builtin():
    with pytest.raises(ValueError, match="below"):
        f(-5)
    with pytest.raises((KeyError, IndexError)):
        f(0)
    with pytest.raises(LookupError):
        f(0)
    pytest.raises(KeyError, f, 0)
