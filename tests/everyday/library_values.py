# expect: passed
# Values of the standard library.
from collections import *
from decimal import Decimal
from fractions import Fraction
import datetime
def f(x):
    return {'c':Counter,'d':defaultdict,'o':OrderedDict,'q':deque}[x]
def c(s): return Counter(s)
def dd():
    d=defaultdict(list)
    d['a'].append(1)
    return d
def q(): return deque([1,2],maxlen=3)
def de(): return Decimal('1.10')
def fr(): return Fraction(1,3)
def dt(): return datetime.datetime(2020,1,2,tzinfo=datetime.timezone.utc)
def ti(): return datetime.time(10,21,tzinfo=datetime.timezone(datetime.timedelta(hours=10),'X'))
def fo(): return datetime.datetime(2020,10,25,2,30,fold=1), datetime.time(2,30,fold=1)
def tp(): return (1,2.5,float('inf'),-0.0,'\ud800',b'x',None,{1:{2:[3]}},frozenset([1]),1j,10**30,range(3),...)

# --- tests ---
from collections import Counter,deque,defaultdict
from decimal import Decimal
import datetime
assert c('aab')=={'a':2,'b':1}
assert isinstance(c('a'),Counter)
assert c('aab').most_common(1)==[('a',2)]
assert dd()=={'a':[1]}
assert dd()['zz']==[]
assert q()==deque([1,2])
assert q().maxlen==3
assert de()==Decimal('1.1')
assert str(de())=='1.10'
assert fr()==1/3 or fr()*3==1
assert dt()==datetime.datetime(2020,1,2,tzinfo=datetime.timezone.utc)
t=ti()
assert t==datetime.time(10,21,tzinfo=datetime.timezone(datetime.timedelta(hours=10))) and t.tzname()=='X'
assert t!=datetime.time(10,21)
assert [v.fold for v in fo()]==[1,1]
import math
r=tp()
assert r[:3]==(1,2.5,float('inf'))
assert math.copysign(1,r[3])==-1
assert r[4]=='\ud800' and r[-1] is ... and r[-2]==range(3) and r[-3]==10**30
