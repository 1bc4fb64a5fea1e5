# A method changes its object, and what that holds.
# entry: Account.take
# --- pkg/code.py ---
class TooLittle(Exception):
    pass


class Account:
    fee = 1

    def __init__(self, balance=0):
        self.balance, self.log = balance, []

    def put(self, amount):
        self.balance += amount
        self.log.append(("put", amount))
        return self

    def take(self, amount):
        if amount + self.fee > self.balance:
            raise TooLittle(amount)
        self.balance -= amount + self.fee
        self.log.append(("take", amount))
        return self


class Free(Account):
    fee = 0
# --- tests/test_code.py ---
import unittest

from pkg.code import Account, Free, TooLittle


class Take(unittest.TestCase):
    def test_takes(self):
        account = Account(10)
        log = account.log
        self.assertIs(account.take(2), account)
        self.assertEqual(account.put(3).take(4).balance, 5)
        self.assertEqual(log, [("take", 2), ("put", 3), ("take", 4)])
        self.assertIs(account.log, log)

    def test_derived(self):
        self.assertEqual(Free(5).take(5).balance, 0)

    def test_too_much(self):
        account = Account(3)
        with self.assertRaises(TooLittle) as caught:
            account.take(3)
        self.assertEqual(caught.exception.args, (3,))
        self.assertEqual((account.balance, account.log), (3, []))
