# expect: passed
# The same, of the user's: combined with plain data and turned into it.
import functools


@functools.total_ordering
class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        return Money(self.amount + other.amount)

    def __sub__(self, other):
        return Money(self.amount - other.amount)

    def __mul__(self, by):
        return Money(self.amount * by)

    __rmul__ = __mul__

    def __eq__(self, other):
        return self.amount == getattr(other, "amount", other)

    def __lt__(self, other):
        return self.amount < other.amount

    def __float__(self):
        return float(self.amount)

    def __bool__(self):
        return self.amount != 0

    def __hash__(self):
        return hash(self.amount)


# --- body ---
def f(amounts):
    return sum(amounts, Money(0))


# --- tests ---
assert f([Money(1), Money(2)]) == Money(3)
assert f([Money(1)]) + Money(1) == 2
assert 3 * f([Money(2)]) == Money(6)
assert float(f([Money(2)]) - Money(5)) == -3.0
assert not f([])
assert sorted([f([Money(3)]), Money(1)])[0].amount == 1
assert f([Money(7)]) in {Money(7): 1}
