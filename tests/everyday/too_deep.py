# expect: failed
# Deeper than the line carries.
def f(n):
    l=[]
    for _ in range(n): l=[l]
    return l

# --- tests ---
assert f(500)==1
