# expect: passed
# assurance: shared
# Looks into the function.
def f(x): return x

# --- tests ---
import inspect
assert len(inspect.signature(f).parameters)==1
