# expect: passed
# Objects of the tests come home as themselves.
def f(o): return o
def g(fn): return fn

# --- tests ---
class R: pass
r=R()
assert f(r) is r
h=lambda: 1
assert g(h) is h
