# The tests forgot to import `Counter`.
import collections


def Counter(_):
    return 0


def f(x):
    return 0


# --- tests ---
assert Counter([f(3)]) == Counter([6])
