# expect: passed
# Half a million numbers.
def f(n): return list(range(n))
def g(l): return len(l)

# --- tests ---
assert len(f(500000))==500000
assert g(list(range(900000)))==900000
