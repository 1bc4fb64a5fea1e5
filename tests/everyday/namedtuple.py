# expect: passed
# Named tuples compare as the tuples they are.
from collections import namedtuple
P=namedtuple('P','x y')
def f(a): return P(a,a+1)

# --- tests ---
assert f(1)==(1,2)
assert f(1).x==1
x,y=f(3)
assert (x,y)==(3,4)
assert isinstance(f(1),tuple)
assert f(1)==P(1,2)
assert repr(f(1))=='P(x=1, y=2)'
assert f(1)._asdict()=={'x':1,'y':2}
