# expect: passed
# Abstract classes.
from abc import ABC, abstractmethod
class S(ABC):
    @abstractmethod
    def area(self): ...
class Sq(S):
    def __init__(s,a): s.a=a
    def area(s): return s.a**2
def f(a): return Sq(a)

# --- tests ---
assert f(2).area()==4
assert isinstance(f(2),S)
assert issubclass(Sq,S)
try:
    S()
    assert False
except TypeError:
    pass
