# Functions of the project call the one under test, and it calls them.
# entry: is_even
# --- pkg/odd.py ---
from . import code


def is_odd(n):
    return n != 0 and code.is_even(n - 1)
# --- pkg/code.py ---
from functools import lru_cache

from . import odd


@lru_cache(maxsize=None)
def is_even(n):
    return n == 0 or odd.is_odd(n - 1)
# --- tests/test_code.py ---
from pkg.code import is_even
from pkg.odd import is_odd


def test_numbers():
    assert [n for n in range(9) if is_even(n)] == [0, 2, 4, 6, 8]
    assert is_odd(7) and not is_odd(8)
