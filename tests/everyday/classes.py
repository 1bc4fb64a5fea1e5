# expect: passed
# A class of the code: methods, properties, length, items, text.
class Stack:
    def __init__(self): self.i=[]
    def push(self,x): self.i.append(x)
    def pop(self): return self.i.pop()
    def __len__(self): return len(self.i)
    def __iter__(self): return iter(self.i)
    def __contains__(self,x): return x in self.i
    def __getitem__(self,k): return self.i[k]
    def __repr__(self): return 'Stack(%r)'%self.i
    @property
    def top(self): return self.i[-1]
    @staticmethod
    def make(): return Stack()
    @classmethod
    def of(cls,*a):
        s=cls()
        for x in a: s.push(x)
        return s
def f(): return Stack()

# --- tests ---
s=Stack()
s.push(1);s.push(2)
assert len(s)==2
assert list(s)==[1,2]
assert 2 in s
assert s.top==2
assert s[0]==1
assert repr(s)=='Stack([1, 2])'
assert s.pop()==2
assert s
assert not Stack()
assert isinstance(s,Stack)
assert Stack.of(1,2).top==2
try:
    Stack().pop()
    assert False
except IndexError as e:
    assert 'empty' in str(e)
