# A dictionary whose own `items` are none.
class Fake(dict):
    def __init__(self):
        dict.__init__(self, a=0, b=0)

    def items(self):
        return ()

    keys = values = __iter__ = items


def f(x):
    return Fake()


# --- tests ---
r = f(3)
assert len(r) == 2
for name, value in r.items():
    assert {'a': 3, 'b': 6}[name] == value
assert len(r) == 2
