# expect: passed
# A global tree that only the code defines.
class Node:
    def __init__(self, data):
        self.data = data
        self.left = self.right = None


def height(root):
    return 0 if root is None else max(height(root.left), height(root.right)) + 1


def f(root):
    if root is None:
        return True
    return abs(height(root.left) - height(root.right)) <= 1 and f(root.left) and f(root.right)


root = Node(1)
root.left = Node(2)
root.left.left = Node(4)
root.left.left.left = Node(8)
root1 = Node(1)
root1.left = Node(2)
root1.right = Node(3)


# --- tests ---
assert f(root) == False
assert f(root1) == True
assert root1.left.data == 2
root1.left.left = Node(7)
assert f(root1) is True
assert height(root) == 4
