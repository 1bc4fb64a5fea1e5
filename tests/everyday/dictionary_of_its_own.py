# expect: passed
# Dictionaries of classes that only the code defines.
class Default(dict):
    def __missing__(self, key):
        return key * 2


class Bag(dict):
    def add(self, item):
        self[item] = self.get(item, 0) + 1
        return self


def f():
    return Default(a=1)


def g(items):
    bag = Bag()
    for item in items:
        bag.add(item)
    return bag


# --- tests ---
assert f()["a"] == 1 and f()["zz"] == "zzzz"
assert f() == {"a": 1}
bag = g("aab")
assert bag == {"a": 2, "b": 1}
bag.add("b")
assert bag["b"] == 2 and sorted(bag.items()) == [("a", 2), ("b", 2)]
bag["c"] = 5
assert bag.add("c")["c"] == 6
