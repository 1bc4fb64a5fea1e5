# expect: passed
# Nested dictionaries.
def f(d): return {k:[v] for k,v in d.items()}

# --- tests ---
assert f({'a':{'b':(1,[2])}})=={'a':[{'b':(1,[2])}]}
assert f({(1,2):3})=={(1,2):[3]}
