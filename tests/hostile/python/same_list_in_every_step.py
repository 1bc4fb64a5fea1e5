# Yields one list again and again: read into a list it is the same one each time.
def f(x):
    seen = []
    for n in range(x):
        seen.append(n)
        yield seen


# --- tests ---
assert list(f(2)) == [[0], [0, 1]]
