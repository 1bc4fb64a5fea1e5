# Dates, decimal numbers, paths, patterns and their like.
# entry: span
# --- pkg/zones.py ---
from datetime import timedelta, timezone

HOME = timezone(timedelta(hours=2), "HOME")
# --- pkg/code.py ---
import re
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath

from .zones import HOME


def span(start, days):
    end = (start + timedelta(days=days)).astimezone(HOME)
    return {
        "end": end, "length": end - start, "price": Decimal("1.10") * days, "share": Fraction(days, 6),
        "path": PurePosixPath("out") / str(days), "pattern": re.compile(r"\d+", re.I), "seen": Counter("aab"),
        "last": deque([1, 2, 3], maxlen=2), "order": OrderedDict(b=1, a=2), "by": defaultdict(list, {1: [2]}),
    }
# --- tests/test_code.py ---
from collections import Counter, OrderedDict, deque
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath

from pkg.code import span
from pkg.zones import HOME


def test_span():
    start = datetime(2024, 2, 28, 22, 30, tzinfo=timezone.utc)
    found = span(start, 3)
    assert found["end"] == datetime(2024, 3, 3, 0, 30, tzinfo=HOME)
    assert found["end"].tzname() == "HOME"
    assert found["length"] == timedelta(3)
    assert found["price"] == Decimal("3.30")
    assert str(found["price"]) == "3.30"
    assert found["share"] == Fraction(1, 2)
    assert found["path"] == PurePosixPath("out/3")
    assert found["pattern"].findall("a1b22") == ["1", "22"]
    assert found["seen"] == Counter(a=2, b=1)
    assert found["last"] == deque([2, 3])
    assert found["last"].maxlen == 2
    assert list(found["order"]) == ["b", "a"]
    assert isinstance(found["order"], OrderedDict)
    found["by"][7].append(1)
    assert found["by"] == {1: [2], 7: [1]}
