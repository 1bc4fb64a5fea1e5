# expect: passed
# A context manager.
import contextlib
@contextlib.contextmanager
def f(l):
    l.append('in')
    yield 5
    l.append('out')

# --- tests ---
l=[]
with f(l) as x:
    assert x==5
    pass
