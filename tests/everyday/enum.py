# expect: passed
# Enumerations: identity, names, iteration.
from enum import Enum, IntEnum
class C(Enum):
    R=1
    G=2
class I(IntEnum):
    A=3
def f(a): return C(a)

# --- tests ---
assert f(1) is C.R
assert f(2)==C.G
assert f(2).name=='G' and f(2).value==2
assert [c.name for c in C]==['R','G']
assert C['R'] is C.R
assert I.A==3
assert I.A is I(3)
assert isinstance(I.A,int)
d={C.R:1}
assert d[f(1)]==1
