# A method says that it changes what its class computes once and keeps.
# assurance: shared
# entry: Query.add
# --- pkg/code.py ---
from functools import cached_property


class Query:
    def __init__(self, text=""):
        self._text = text

    @cached_property
    def parts(self):
        return [part for part in self._text.split("&") if part]

    def add(self, part):
        """Adds to the parts of the query, once."""
        if part not in self.parts:
            self.parts.append(part)
        return self
# --- tests/test_code.py ---
from pkg.code import Query


def test_add():
    query = Query("a&b")
    assert query.add("c") is query
    assert query.parts == ["a", "b", "c"]
    assert query.add("a").parts == ["a", "b", "c"]
