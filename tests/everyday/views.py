# expect: passed
# Views and lazy results.
def f(d): return d.keys()
def g(d): return d.values()
def h(d): return d.items()
def z(a,b): return zip(a,b)

# --- tests ---
assert list(f({1:2}))==[1]
assert sorted(g({1:2}))==[2]
assert list(h({1:2}))==[(1,2)]
assert dict(z([1],[2]))=={1:2}
assert f({1:2})=={1}
assert set(f({1:2}))=={1}
assert 1 in f({1:2})
