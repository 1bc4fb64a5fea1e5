# Errors arrive as the project's own, with what they hold.
# entry: parse
# --- pkg/errors.py ---
class ParseError(ValueError):
    def __init__(self, text, position):
        super().__init__("cannot read %r" % text)
        self.text, self.position = text, position


class Empty(ParseError):
    pass
# --- pkg/code.py ---
from .errors import Empty, ParseError


def parse(text):
    if not text:
        raise Empty(text, 0)
    for position, letter in enumerate(text):
        if not letter.isdigit():
            raise ParseError(text, position) from KeyError(letter)
    return int(text)
# --- tests/test_code.py ---
import unittest

from pkg import errors
from pkg.code import parse


class Parse(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(parse("12"), 12)

    def test_errors(self):
        with self.assertRaisesRegex(errors.ParseError, "cannot read '1x'") as caught:
            parse("1x")
        self.assertIs(type(caught.exception), errors.ParseError)
        self.assertEqual((caught.exception.text, caught.exception.position), ("1x", 1))
        self.assertEqual(repr(caught.exception.__cause__), "KeyError('x')")

    def test_nothing(self):
        with self.assertRaises(errors.Empty):
            parse("")
