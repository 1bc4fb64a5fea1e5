# expect: failed
# Text that only looks like the right number.
class Six(str):
    def __eq__(self, other):
        return NotImplemented


def f(x):
    return "6"
