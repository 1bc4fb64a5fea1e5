# expect: passed
# The module by its name, its values and changing globals.
X=3
cache={}
def f(x):
    cache[x]=1
    return x*X

# --- tests ---
import doubling as n
from doubling import f, X
assert n.f(2)==6
assert X==3
assert cache=={2:1}
n.f(5)
assert n.cache=={2:1,5:1}
assert cache=={2:1,5:1}
n.X=4
assert f(2)==8
