# expect: passed
# Objects, iterators and views of the tests as arguments.
def f(o): return o.area()+o.w
def g(xs): return sum(x.w for x in xs)
def it(i): return [x for x in i]

# --- tests ---
class R:
    def __init__(s): s.w=3
    def area(s): return 9
assert f(R())==12
assert g([R(),R()])==6
assert it(x*x for x in range(3))==[0,1,4]
import itertools
assert it(itertools.islice(itertools.count(),3))==[0,1,2]
assert it(map(str,[1]))==['1']
assert it({1:2}.items())==[(1,2)]
assert it('ab')==['a','b']
