# Raises what ends `list(map(...))`.
def f(x):
    raise StopIteration


# --- tests ---
assert [] == [x for x in map(f, [3]) if x != 6]
