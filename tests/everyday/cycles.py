# expect: passed
# A list inside itself.
def f():
    l=[1]
    l.append(l)
    return l

# --- tests ---
l=f()
assert l[0]==1 and l[1] is l
