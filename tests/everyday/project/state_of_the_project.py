# What the tests change in the project by its own functions holds in the code, too.
# entry: label
# --- pkg/language.py ---
from threading import local

_now = local()
WORDS = {None: {}, "de": {"one": "eins"}}
separator = ", "


def activate(name):
    _now.name = name


def words():
    return WORDS[getattr(_now, "name", None)]
# --- pkg/code.py ---
from . import language


def label(*names):
    return language.separator.join(language.words().get(name, name) for name in names)
# --- tests/test_code.py ---
import unittest

from pkg import language
from pkg.code import label


class Label(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(label("one", "two"), "one, two")

    def test_another_language(self):
        language.activate("de")
        self.addCleanup(language.activate, None)
        self.assertEqual(label("one"), "eins")

    def test_other_words(self):
        language.WORDS[None]["two"] = "deux"
        language.separator = "/"
        self.assertEqual(label("one", "two"), "one/deux")
        del language.WORDS[None]["two"]
        language.separator = ", "
        self.assertEqual(label("one", "two"), "one, two")
