# Objects of classes of the tests are used from afar; records of the tests are not.
# entry: total
# --- pkg/prices.py ---
class Price:
    def __init__(self, cents):
        self.cents = cents

    def __add__(self, other):
        return Price(self.cents + other.cents)
# --- pkg/code.py ---
from .prices import Price


def total(cart, discount=None):
    whole = Price(0)
    for item in cart:
        whole = whole + item.price(whole.cents)
    if discount is not None:
        whole.cents = discount(whole.cents)
    cart.paid = True
    return whole
# --- tests/test_code.py ---
from pkg.code import total
from pkg.prices import Price


class Item:
    def __init__(self, cents):
        self.cents = cents

    def price(self, before):
        return Price(self.cents)


class Cart:
    def __init__(self, *items):
        self.items, self.paid = items, False

    def __iter__(self):
        return iter(self.items)


def test_total():
    cart = Cart(Item(3), Item(4))
    assert total(cart).cents == 7 and cart.paid is True
    assert type(total(cart)) is Price


def test_discount():
    assert total(Cart(Item(10)), lambda cents: cents // 2).cents == 5
