# expect: failed
# More than the line carries.
def f(n): return 'x'*n

# --- tests ---
assert len(f(9<<20))==9<<20
