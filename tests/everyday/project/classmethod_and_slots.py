# A class method gets its class, and makes objects with slots.
# entry: Version.parse
# --- pkg/code.py ---
import functools


@functools.total_ordering
class Version:
    __slots__ = ("major", "minor")

    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    @classmethod
    def parse(cls, text):
        return cls(*map(int, text.split(".")))

    def __eq__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return (self.major, self.minor) == (other.major, other.minor)

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)


class Special(Version):
    __slots__ = ()
# --- tests/test_code.py ---
from pkg.code import Special, Version


def test_parses():
    assert Version.parse("1.20") == Version(1, 20)
    assert type(Special.parse("1.2")) is Special
    assert Version.parse("1.20") > Version.parse("1.3")
    assert Version.parse("1.2") != Version(2, 1)


def test_refuses():
    try:
        Version.parse("x.y")
    except ValueError as error:
        assert "invalid literal" in str(error)
    else:
        raise AssertionError("it was read")
