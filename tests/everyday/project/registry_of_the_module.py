# What the function keeps in its module is seen by the others there.
# entry: register
# --- pkg/code.py ---
_known = {}
count = 0


class Settings:
    last = None

    def __init__(self):
        self.names = []


settings = Settings()


def register(name, value):
    global count
    _known[name] = value
    count += 1
    settings.names.append(name)


def lookup(name):
    return _known[name]


def clear():
    global count
    count = 0
    _known.clear()
    settings.names = []
# --- tests/test_code.py ---
import unittest

from pkg import code


class Registry(unittest.TestCase):
    def setUp(self):
        code.clear()

    def test_found_again(self):
        code.register("a", [1])
        code.register("b", 2)
        self.assertEqual(code.lookup("a"), [1])
        self.assertEqual((code.count, code.settings.names), (2, ["a", "b"]))

    def test_nothing_is_left(self):
        with self.assertRaises(KeyError):
            code.lookup("a")
        code.register("c", 3)
        self.assertEqual((code.count, code.settings.names), (1, ["c"]))
