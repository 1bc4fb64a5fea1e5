# expect: passed
# Functions of the tests are called back.
def f(g,xs): return [g(x) for x in xs]
def deco(fn):
    def w(*a): return fn(*a)+1
    return w
def compose(*fs):
    def c(x):
        for g in fs: x=g(x)
        return x
    return c

# --- tests ---
assert f(lambda x:x+1,[1,2])==[2,3]
assert f(str,[1])==['1']
assert f(len,['ab'])==[2]
@deco
def g(a): return a*2
assert g(4)==9
assert compose(lambda x:x+1,abs,str)(-5)=='4'
import math
assert f(math.sqrt,[4])==[2.0]
class E(Exception): pass
def bad(x): raise E('x')
try:
    f(bad,[1])
    assert False
except E as e:
    assert str(e)=='x'
seen=[]
f(seen.append,[1,2])
assert seen==[1,2]
