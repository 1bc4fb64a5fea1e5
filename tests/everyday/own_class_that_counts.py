# expect: passed
# A class that counts its objects stays where its state is.
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
def f(n): return Counter2()

# --- tests ---
assert isinstance(f(1),Counter2)
assert Counter2.made==1
