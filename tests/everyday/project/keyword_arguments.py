# All kinds of parameters, and marks for what was not given.
# entry: describe
# --- pkg/marks.py ---
class Missing:
    def __repr__(self):
        return "MISSING"


MISSING = Missing()
NOTHING = object()
# --- pkg/code.py ---
from .marks import MISSING, NOTHING


def describe(first, /, second=MISSING, *rest, third=NOTHING, **others):
    found = [first, "no second" if second is MISSING else second, list(rest)]
    found.append("no third" if third is NOTHING else third)
    return found + [sorted(others.items())]
# --- tests/test_code.py ---
from pkg.code import describe
from pkg.marks import MISSING


def test_all():
    assert describe(1) == [1, "no second", [], "no third", []]
    assert describe(1, 2, 3, 4, third=5, b=6, a=7) == [1, 2, [3, 4], 5, [("a", 7), ("b", 6)]]
    assert describe(1, MISSING, second2=3) == [1, "no second", [], "no third", [("second2", 3)]]
    assert describe(None, None, third=None) == [None, None, [], None, []]
