# An iterator that says a length and has no items.
class Fake:
    def __len__(self):
        return 2

    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration


def f(x):
    return Fake()


# --- tests ---
expected = [3, 6]
r = f(3)
assert len(r) == len(expected)
for one, other in zip(r, expected):
    assert one == other
