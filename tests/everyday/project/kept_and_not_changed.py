# What a class computes once and keeps, and nobody changes, is computed by the class on the judge's side, too.
# entry: Query.joined
# --- pkg/code.py ---
from functools import cached_property


class Query:
    def __init__(self, text=""):
        self._text = text

    @cached_property
    def parts(self):
        return [part for part in self._text.split("&") if part]

    def joined(self, other):
        return Query("&".join(self.parts + other.parts))
# --- tests/test_code.py ---
from pkg.code import Query


def test_joined():
    both = Query("a&b").joined(Query("c"))
    assert both.parts == ["a", "b", "c"]
    assert Query().joined(Query()).parts == []
