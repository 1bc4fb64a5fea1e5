# expect: passed
# Functions as results.
def f(n):
    def add(x): return x+n
    return add

# --- tests ---
assert f(2)(3)==5
add=f(1)
assert [add(i) for i in range(3)]==[1,2,3]
assert list(map(f(1),[1,2]))==[2,3]
