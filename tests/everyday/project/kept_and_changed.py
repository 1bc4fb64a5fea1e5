# What a class computes once and keeps is changed afterwards: there it is no longer what the class computes.
# assurance: shared
# entry: Query.joined
# --- pkg/code.py ---
from functools import cached_property


class Query:
    def __init__(self, text=""):
        self._text = text

    @cached_property
    def parts(self):
        return [part for part in self._text.split("&") if part]

    @classmethod
    def of(cls, parts):
        made = cls()
        made.parts.extend(parts)
        return made

    def joined(self, other):
        return Query.of(self.parts + other.parts)
# --- tests/test_code.py ---
from pkg.code import Query


def test_joined():
    both = Query("a&b").joined(Query("c"))
    assert both.parts == ["a", "b", "c"]
    assert Query().joined(Query()).parts == []
