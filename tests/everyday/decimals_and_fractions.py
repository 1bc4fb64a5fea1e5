# expect: passed
# Exact numbers.
from decimal import Decimal, ROUND_HALF_UP
from fractions import Fraction


def f(x):
    return Decimal(x).quantize(Decimal('0.01'), rounding=ROUND_HALF_UP)


def g(a, b):
    return Fraction(a, b)


# --- tests ---
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import pytest

assert f("2.675") == Decimal("2.68")
assert str(f("2")) == "2.00"
assert g(1, 3) + g(1, 6) == Fraction(1, 2)
assert Decimal("1.1") == pytest.approx(Decimal("1.1000000001"))
with pytest.raises(InvalidOperation):
    f("x")
