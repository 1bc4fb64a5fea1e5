# Gives its items once, and none when they are compared.
class Fake:
    asked = 0

    def __iter__(self):
        self.asked += 1
        return iter([0, 0] if self.asked == 1 else [])


def f(x):
    return Fake()


# --- tests ---
expected = [3, 6]
r = f(3)
assert len(list(r)) == len(expected)
for one, other in zip(r, expected):
    assert one == other
