# expect: passed
# Objects of the user's own class are compared beside the tests.
from dataclasses import dataclass, field
from typing import List
import math

@dataclass
class Point:
    x: int
    y: int = 0
    tags: List[str] = field(default_factory=list)

class Node:
    def __init__(self, val, next=None):
        self.val = val
        self.next = next
    def __eq__(self, o):
        return isinstance(o, Node) and self.val == o.val and self.next == o.next

class Counter2:
    made = 0
    def __init__(self):
        Counter2.made += 1

@dataclass(frozen=True)
class Key:
    k: int

def chain(*xs):
    head = None
    for x in reversed(xs):
        head = Node(x, head)
    return head


# --- body ---
def f(n): return Point(n, 2*n)

# --- tests ---
assert f(1)==Point(1,2)
assert f(1)!=Point(1,3)
assert isinstance(f(1),Point)
assert repr(f(1))=='Point(x=1, y=2, tags=[])'
from doubling import Point as P
assert f(1)==P(1,2)
