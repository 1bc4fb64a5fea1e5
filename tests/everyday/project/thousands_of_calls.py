# With thousands of calls two processes would take too long.
# assurance: shared
# entry: f
# --- pkg/code.py ---
def f(x):
    return 2 * x
# --- tests/test_code.py ---
from pkg.code import f


def test_many():
    assert [f(x) for x in range(4000)] == list(range(0, 8000, 2))
