# entry: Account.add
# The method under test makes attributes of the object that hide its methods.
class Account:
    def __init__(self, balance):
        self.balance = balance

    def __eq__(self, other):
        return isinstance(other, Account) and self.balance == other.balance

    def total(self):
        return self.balance

    def add(self, amount):
        pass


# --- body ---
class Account:
    def __init__(self, balance):
        self.balance = balance

    def __eq__(self, other):
        return isinstance(other, Account) and self.balance == other.balance

    def total(self):
        return self.balance

    def add(self, amount):
        self.total = lambda: 6


# --- tests ---
a = Account(3)
a.add(3)
assert a.total() == 6
