# A fixed attribute of the user's class is patched, on the class and on the object.
class Level:
    WEIGHT = 2

    def __init__(self, value):
        self.value = value

    def weight(self):
        return self.WEIGHT * self.value


# --- body ---
def f(x):
    Level.WEIGHT = 0
    made = Level(0)
    made.weight = lambda: 2 * x
    return made


# --- tests ---
assert f(3).weight() == 6
assert f(4).weight() == 8
