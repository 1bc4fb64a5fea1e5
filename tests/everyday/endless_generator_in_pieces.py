# expect: passed
# A generator without end, read as far as asked.
def f():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


# --- tests ---
import itertools

assert list(itertools.islice(f(), 8)) == [0, 1, 1, 2, 3, 5, 8, 13]
g = f()
assert [next(g) for _ in range(4)] == [0, 1, 1, 2]
assert next(x for x in f() if x > 100) == 144
assert [x for x, _ in zip(f(), range(3))] == [0, 1, 1]
