# Raises what ends `zip(map(...))`, so that nothing is compared.
def f(x):
    raise StopIteration


# --- tests ---
for one, other in zip(map(f, [3, 4]), [6, 8]):
    assert one == other
