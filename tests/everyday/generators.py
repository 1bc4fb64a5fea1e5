# expect: passed
# Generators and iterators, consumed step by step.
def f(n):
    for i in range(n): yield i*i

# --- tests ---
assert list(f(4)) == [0,1,4,9]
g=f(2)
assert next(g)==0
assert next(g)==1
try:
    next(g)
    assert False
except StopIteration:
    pass
assert sum(f(3))==5
assert sorted(f(3))==[0,1,4]
