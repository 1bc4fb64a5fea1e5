# An error derived from what ends an iteration.
class Stop(StopIteration):
    pass


def f(x):
    raise Stop


# --- tests ---
assert all(map(f, [3, 4]))
