# Parts of the project that the tests replace have to be there for the code, too.
# entry: total
# --- pkg/prices.py ---
def price(name):
    raise OSError("no network")
# --- pkg/code.py ---
from . import prices


def total(names):
    return sum(map(prices.price, names))
# --- tests/test_code.py ---
import unittest

from pkg import prices
from pkg.code import total


class Total(unittest.TestCase):
    def test_total(self):
        before, prices.price = prices.price, lambda name: len(name)
        try:
            self.assertEqual(total(["a", "bc"]), 3)
        finally:
            prices.price = before

    def test_what_was_there_is_back(self):
        self.test_total()
        with self.assertRaisesRegex(OSError, "no network"):
            total(["a"])
