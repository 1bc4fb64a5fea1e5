# expect: passed
# entry: Tree.insert
# A method that builds a tree, under the user's iteration, length and membership.
class Node:
    def __init__(self, value):
        self.value = value
        self.left = self.right = None


class Tree:
    def __init__(self, values=()):
        self.root = None
        for value in values:
            self.insert(value)

    def insert(self, value):
        pass

    def __iter__(self):
        def walk(node):
            if node is not None:
                yield from walk(node.left)
                yield node.value
                yield from walk(node.right)
        return walk(self.root)

    def __len__(self):
        return sum(1 for _ in self)

    def __contains__(self, value):
        return any(value == item for item in self)


# --- body ---
class Node:
    def __init__(self, value):
        self.value = value
        self.left = self.right = None


class Tree:
    def __init__(self, values=()):
        self.root = None
        for value in values:
            self.insert(value)

    def insert(self, value):
        if self.root is None:
            self.root = Node(value)
            return
        node = self.root
        while True:
            side = "left" if value < node.value else "right"
            below = getattr(node, side)
            if below is None:
                setattr(node, side, Node(value))
                return
            node = below

    def __iter__(self):
        def walk(node):
            if node is not None:
                yield from walk(node.left)
                yield node.value
                yield from walk(node.right)
        return walk(self.root)

    def __len__(self):
        return sum(1 for _ in self)

    def __contains__(self, value):
        return any(value == item for item in self)


# --- tests ---
import random

tree = Tree([5, 2, 8])
assert list(tree) == [2, 5, 8]
tree.insert(3)
assert tree.root.left.right.value == 3
assert len(tree) == 4 and 3 in tree and 7 not in tree
values = random.sample(range(1000), 200)
assert list(Tree(values)) == sorted(values)
root = tree.root
tree.insert(1)
assert tree.root is root
