# expect: passed
# An object of the user's that the code keeps comes back as itself.
class Item:
    def __init__(self, n):
        self.n = n


# --- body ---
kept = []


def f(item):
    if item not in kept:
        kept.append(item)
    return kept[0]


# --- tests ---
first, second = Item(1), Item(2)
assert f(first) is first
assert f(second) is first
first.n = 5
assert f(second).n == 5
