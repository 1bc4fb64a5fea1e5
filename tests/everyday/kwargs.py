# expect: passed
# Positional and named arguments.
def f(*a,k=1,**kw): return (a,k,kw)

# --- tests ---
assert f(1,2,k=3,z=4)==((1,2),3,{'z':4})
