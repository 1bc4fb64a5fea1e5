# expect: passed
# An iterator written as a class.
class f:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


# --- tests ---
assert list(f(3)) == [2, 1, 0]
it = f(2)
assert iter(it) is it
assert next(it) == 1 and next(it) == 0
try:
    next(it)
except StopIteration:
    pass
else:
    raise AssertionError("it goes on")
assert sum(f(4)) == 6
assert max(f(0), default=None) is None
