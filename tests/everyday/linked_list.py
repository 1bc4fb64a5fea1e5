# expect: passed
# A list of the user's nodes, with a cycle.
class Node:
    def __init__(self, value):
        self.value = value
        self.next = None


# --- body ---
def f(head):
    slow = fast = head
    while fast and fast.next:
        slow, fast = slow.next, fast.next.next
        if slow is fast:
            return True
    return False


def middle(head):
    slow = fast = head
    while fast and fast.next:
        slow, fast = slow.next, fast.next.next
    return slow


# --- tests ---
def make(values):
    nodes = [Node(v) for v in values]
    for one, other in zip(nodes, nodes[1:]):
        one.next = other
    return nodes


nodes = make([1, 2, 3, 4])
assert f(nodes[0]) is False
assert middle(nodes[0]) is nodes[2]
nodes[3].next = nodes[1]
assert f(nodes[0]) is True
