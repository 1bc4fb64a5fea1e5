# expect: passed
# entry: Sorted.remove
# A method that is called as one of a list.
class Sorted:
    def __init__(self, values=()):
        self.values = sorted(values)

    def index(self, value):
        return self.values.index(value)

    def remove(self, value):
        pass


# --- body ---
class Sorted:
    def __init__(self, values=()):
        self.values = sorted(values)

    def index(self, value):
        return self.values.index(value)

    def remove(self, value):
        del self.values[self.index(value)]


# --- tests ---
letters = Sorted("cab")
letters.remove("b")
assert letters.values == ["a", "c"]
assert letters.index("c") == 1
