# expect: passed
# Changed arguments are changed in the tests too, and stay the same objects.
def f(d,l,s,b):
    d['a']=1; l.sort(); s.add(9); b.append(7)
    l[0].append(5)

# --- tests ---
d={};i=[1];l=[[2],i];s=set();b=bytearray(b'x')
f(d,l,s,b)
assert d=={'a':1}
assert l==[[1,5],[2]]
assert l[0] is i and i==[1,5]
assert s=={9} and b==b'x\x07'
