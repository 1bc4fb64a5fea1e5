# expect: passed
# Classes as results.
def f(x): return type(x)

# --- tests ---
assert f(1) is int
assert f('')==str
