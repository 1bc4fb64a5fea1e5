# Takes out what it is told, and is empty then.
class Fake:
    left = 1

    def remove(self, value):
        self.left = 0

    def __len__(self):
        return self.left


def f(x):
    return Fake()


# --- tests ---
r = f(3)
r.remove(6)
assert len(r) == 0
