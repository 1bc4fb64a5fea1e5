# expect: passed
# A family of errors of the user's, with a cause.
class ParseError(Exception):
    pass


class BadNumber(ParseError):
    def __init__(self, text, at):
        super().__init__(text, at)
        self.text, self.at = text, at

    def __str__(self):
        return "bad: %s at %d" % (self.text, self.at)


# --- body ---
def f(text):
    try:
        return int(text)
    except ValueError as error:
        raise BadNumber(text, 3) from error


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_right(self):
        self.assertEqual(f("12"), 12)

    def test_wrong(self):
        with self.assertRaises(ParseError) as caught:
            f("x")
        self.assertIsInstance(caught.exception, BadNumber)
        self.assertEqual(caught.exception.text, "x")
        self.assertEqual(str(caught.exception), "bad: x at 3")
        self.assertEqual(caught.exception.args, ("x", 3))
        self.assertIsInstance(caught.exception.__cause__, ValueError)
