# The cause of its error answers for itself.
class Cause(KeyError):
    def __eq__(self, other):
        return True

    args = property(lambda self: Any())


class Any(tuple):
    def __eq__(self, other):
        return True

    def __getitem__(self, at):
        return Any()


def f(x):
    raise ValueError("no") from Cause(0)


# --- tests ---
try:
    f(3)
    assert False
except ValueError as error:
    assert isinstance(error.__cause__, KeyError)
    assert error.__cause__.args == (6,)
