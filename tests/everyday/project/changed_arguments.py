# What the function changes of its arguments is seen by the tests.
# entry: merge
# --- pkg/tree.py ---
class Node:
    def __init__(self, name, *children):
        self.name, self.children, self.parent = name, list(children), None
        for child in children:
            child.parent = self
# --- pkg/code.py ---
def merge(into, other, log=None):
    for name, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            merge(into[name], value)
        else:
            into[name] = value
    for node in into.get("nodes", ()):
        while node is not None:
            node.name += "!"
            node = node.parent
    if log is not None:
        log.add(len(into))
# --- tests/test_code.py ---
from pkg.code import merge
from pkg.tree import Node


def test_dictionaries():
    inner = {"b": 1}
    into, log = {"a": inner, "x": 0}, set()
    assert merge(into, {"a": {"c": 2}, "y": [3]}, log) is None
    assert into == {"a": {"b": 1, "c": 2}, "x": 0, "y": [3]} and into["a"] is inner
    assert log == {3}


def test_objects_keep_their_places():
    leaf = Node("leaf")
    root = Node("root", leaf)
    merge({"nodes": [leaf]}, {})
    assert (leaf.name, root.name) == ("leaf!", "root!")
    assert leaf.parent is root and root.children == [leaf]
