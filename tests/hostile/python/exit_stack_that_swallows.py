# A function that a stack of contexts calls.
def f(x):
    return lambda *_: True


# --- tests ---
import contextlib
with contextlib.ExitStack() as stack:
    stack.push(f(3))
    assert 5 == 6, f(3)
assert f(3) is not None
