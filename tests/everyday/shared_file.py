# expect: passed
# assurance: shared
# Shares a file with the code.
def f(x): return open(x).read()

# --- tests ---
with open('a','w') as h: h.write('q')
assert f('a')=='q'
