# expect: passed
# assurance: shared
# Derives from a class of the code.
class B:
    def go(self): return self.x()
def f(): pass

# --- tests ---
class D(B):
    def x(self): return 3
assert D().go()==3
