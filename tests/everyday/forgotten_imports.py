# expect: passed
# Names that the tests forgot to import and the code has.
import math
from collections import Counter
from math import sqrt


def f(x):
    return sqrt(x)


def g(text):
    return Counter(text)


# --- tests ---
assert math.isclose(f(2), 1.41421356, rel_tol=1e-6)
assert f(9) == sqrt(9)
assert g("aab") == Counter("aab")
