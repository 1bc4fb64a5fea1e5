# Classes of the project that derive from builtins.
# entry: counted
# --- pkg/bag.py ---
from typing import NamedTuple


class Bag(dict):
    def __missing__(self, key):
        return 0

    def most(self):
        return max(self, key=self.get)


class Word(str):
    @property
    def initial(self):
        return self[0]


class Pair(NamedTuple):
    word: str
    times: int
# --- pkg/code.py ---
from .bag import Bag, Pair, Word


def counted(words):
    bag = Bag()
    for word in words:
        bag[Word(word)] += 1
    return bag, [Pair(word, times) for word, times in bag.items()]
# --- tests/test_code.py ---
from pkg.bag import Bag, Pair, Word
from pkg.code import counted


def test_counts():
    bag, pairs = counted(["b", "a", "b"])
    assert type(bag) is Bag and bag["nothing"] == 0 and bag.most() == "b" and bag.most().initial == "b"
    assert bag == {"b": 2, "a": 1} and all(type(word) is Word for word in bag)
    assert pairs == [Pair("b", 2), ("a", 1)] and pairs[0].times == 2
