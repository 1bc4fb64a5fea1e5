# A group of errors that says it holds what is looked for.
class Group(ExceptionGroup):
    def split(self, wanted):
        return ExceptionGroup("some", [ValueError(6)]), None

    def subgroup(self, wanted):
        return ExceptionGroup("some", [ValueError(6)])

    def derive(self, errors):
        return ExceptionGroup("some", [ValueError(6)])


def f(x):
    raise Group("some", [TypeError(0)])


# --- tests ---
caught = []
try:
    f(3)
except* ValueError as group:
    caught = [error.args for error in group.exceptions]
assert caught == [(6,)]
