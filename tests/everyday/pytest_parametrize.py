# expect: passed
# Parameters in all their forms.
def f(a, b=1):
    if b == 0:
        raise ZeroDivisionError('by zero')
    return a / b


# --- tests ---
import pytest


@pytest.mark.parametrize("a, b, expected", [(4, 2, 2), (1, 4, 0.25), pytest.param(9, 3, 3, id="nine")])
def test_divides(a, b, expected):
    assert f(a, b) == expected


@pytest.mark.parametrize("a", [1, 2], ids=["one", "two"])
@pytest.mark.parametrize(("b", "sign"), [(1, 1), (-1, -1)])
def test_signs(a, b, sign):
    assert f(a, b) == sign * a


@pytest.mark.parametrize("b", [0, 0.0])
def test_zero(b):
    with pytest.raises(ZeroDivisionError, match="by z.ro"):
        f(1, b)


@pytest.mark.parametrize("values", [[1, 2], (3,)])
def test_lists(values):
    assert [f(v) for v in values] == list(values)
