# expect: passed
# Data classes: construction, fields, equality.
from dataclasses import dataclass
@dataclass
class Q:
    x: int
    y: int = 0
def f(a): return Q(a)

# --- tests ---
assert f(1)==Q(1)
assert f(1).x==1
assert isinstance(f(1),Q)
assert str(f(1))=='Q(x=1, y=0)'
q=Q(1,2)
q.x=5
assert q.x==5
assert f(1)!=Q(2)
