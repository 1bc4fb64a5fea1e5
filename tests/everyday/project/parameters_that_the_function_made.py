# The names of tests hold what the function made of their parameters.
# entry: doubled
# needs: pytest
# --- pkg/code.py ---
import functools


def doubled(f):
    @functools.wraps(f)
    def inner(x):
        return 2 * f(x)

    return inner
# --- tests/test_code.py ---
import pytest

from pkg.code import doubled


@pytest.mark.parametrize("f", [doubled(abs), doubled(len)])
def test_of(f):
    assert f("" if f.__name__ == "len" else 0) == 0


def test_four():
    assert doubled(abs)(2) == 4
