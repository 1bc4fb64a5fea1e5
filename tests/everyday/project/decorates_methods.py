# A function that it makes becomes a method of a class of the tests, and attributes of errors come through.
# entry: counted
# --- pkg/code.py ---
import functools
import json


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **named):
        wrapper.calls += 1
        return function(*args, **named)

    wrapper.calls = 0
    if function.__name__ == "broken":
        json.loads("[1, }")
    return wrapper
# --- tests/test_code.py ---
import json
import unittest

from pkg.code import counted


def greeters():
    class Greeter:
        def __init__(self, name):
            self.name = name

        @counted
        def greet(self, word="Hello"):
            """Greets."""
            return "%s, %s" % (word, self.name)

    return Greeter


class Counted(unittest.TestCase):
    def test_methods(self):
        Greeter = greeters()
        greeter = Greeter("you")
        self.assertEqual(greeter.greet(), "Hello, you")
        self.assertEqual(greeter.greet(word="Bye"), "Bye, you")
        self.assertEqual((Greeter.greet.calls, Greeter.greet.__name__, Greeter.greet.__doc__), (2, "greet", "Greets."))

    def test_errors(self):
        def broken():
            pass

        with self.assertRaises(json.JSONDecodeError) as caught:
            counted(broken)
        self.assertEqual((caught.exception.pos, caught.exception.lineno, caught.exception.doc), (4, 1, "[1, }"))
