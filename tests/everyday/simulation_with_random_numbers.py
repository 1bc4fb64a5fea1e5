# expect: passed
# Random numbers with a seed, on both sides.
import random


def f(n):
    return [random.randint(1, 6) for _ in range(n)]


# --- tests ---
import random

random.seed(4)
first = f(5)
random.seed(4)
assert f(5) == first == [random.Random(4).randint(1, 6)] + first[1:]
assert all(1 <= x <= 6 for x in f(100))
