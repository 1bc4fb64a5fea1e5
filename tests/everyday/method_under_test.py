# expect: passed
# entry: Account.withdraw
# A method: state goes there and comes back, errors are the user's.
class InsufficientFunds(Exception):
    def __init__(self, needed):
        super().__init__("%d more needed" % needed)
        self.needed = needed


class Account:
    """A bank account."""
    fee = 1

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        self.balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        """Takes an amount out."""
        pass

    def __repr__(self):
        return "Account(%r, %r)" % (self.owner, self.balance)


# --- body ---
class InsufficientFunds(Exception):
    def __init__(self, needed):
        super().__init__("%d more needed" % needed)
        self.needed = needed


class Account:
    """A bank account."""
    fee = 1

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        self.balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        """Takes an amount out."""
        total = amount + self.fee
        if total > self.balance:
            raise InsufficientFunds(total - self.balance)
        self.balance -= total
        self.history.append(("withdraw", amount))
        return self.balance

    def __repr__(self):
        return "Account(%r, %r)" % (self.owner, self.balance)


# --- tests ---
import pytest
from doubling import Account, InsufficientFunds


def test_withdraws():
    account = Account("Ann", 10)
    history = account.history
    assert account.withdraw(4) == 5
    assert account.balance == 5
    assert history == [("withdraw", 4)] and account.history is history
    account.deposit(3)
    assert account.withdraw(1) == 6
    assert repr(account) == "Account('Ann', 6)"
    assert [kind for kind, _ in history] == ["withdraw", "deposit", "withdraw"]


def test_refuses():
    account = Account("Bob")
    with pytest.raises(InsufficientFunds, match="6 more") as caught:
        account.withdraw(5)
    assert caught.value.needed == 6
    assert account.balance == 0
