# expect: passed
# A chain of many objects, changed in place.
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
def f(n):
    prev=None
    while n:
        n.next,prev,n=prev,n,n.next
    return prev

# --- tests ---
h=chain(1,2,3)
assert f(h)==chain(3,2,1)
assert h.next is None
assert f(chain(*range(300))).val==299
