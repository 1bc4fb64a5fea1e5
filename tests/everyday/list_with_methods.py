# expect: passed
# A list with methods of its own.
class L(list):
    def push(self,x): self.append(x)
    def total(self): return sum(self)
def f(): return L([1,2])

# --- tests ---
l=f()
assert l==[1,2]
l.push(3)
assert l==[1,2,3]
l.append(4)
assert l.total()==10
assert len(l)==4 and l[-1]==4
l[0]=7
assert l.total()==16
assert sorted(l)==[2,3,4,7]
assert isinstance(l,list)
