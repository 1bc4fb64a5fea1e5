# expect: passed
# Objects in lists.
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
def f(n): return [Point(i) for i in range(n)]

# --- tests ---
assert f(3)==[Point(0),Point(1),Point(2)]
assert sum(p.x for p in f(3))==3
assert max(f(3),key=lambda p:p.x)==Point(2)
