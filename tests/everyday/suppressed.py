# expect: passed
# Errors in a with block.
def f(x): raise ValueError('abc')

# --- tests ---
import contextlib
with contextlib.suppress(ValueError):
    f(1)
    assert False
assert True
