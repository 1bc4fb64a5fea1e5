# expect: passed
# Copies of objects.
class N:
    def __init__(s,v): s.v=v; s.next=None
def f(v): return N(v)

# --- tests ---
import copy
a=f(1);b=copy.deepcopy(a)
b.v=2
assert a.v==1 and b.v==2
a.next=b
assert a.next is b
assert a.next.v==2
