# expect: passed
# Objects as keys.
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
def f(n): return {Key(i): i for i in range(n)}

# --- tests ---
assert f(2)=={Key(0):0,Key(1):1}
assert Key(5) in {Key(5)}
