# expect: passed
# Operators of a class that the tests name.
class V:
    def __init__(s,x): s.x=x
    def __add__(s,o): return V(s.x+o.x)
    def __mul__(s,k): return V(s.x*k)
    def __rmul__(s,k): return V(s.x*k)
    def __eq__(s,o): return isinstance(o,V) and s.x==o.x
    def __lt__(s,o): return s.x<o.x
    def __neg__(s): return V(-s.x)
    def __abs__(s): return abs(s.x)
    def __hash__(s): return hash(s.x)
    def __call__(s,y): return s.x+y
    def __bool__(s): return s.x!=0
def f(x): return V(x)

# --- tests ---
assert V(1)+V(2)==V(3)
assert V(2)*3==V(6)
assert 3*V(2)==V(6)
assert V(1)<V(2)
assert sorted([V(2),V(1)])[0].x==1
assert -V(1)==V(-1)
assert abs(V(-3))==3
assert len({V(1),V(1)})==1
assert V(1)(2)==3
assert not V(0)
assert V(1)!=5
