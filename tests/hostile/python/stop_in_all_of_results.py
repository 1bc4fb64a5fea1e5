# Raises what ends `all` of a `map` of the function itself.
def f(x):
    raise StopIteration


# --- tests ---
assert all(map(f, [3, 4]))
