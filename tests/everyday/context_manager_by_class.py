# expect: passed
# A context manager written by the code, with and without an error.
class f:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append("leave" if kind is None else kind.__name__)
        return kind is KeyError


# --- tests ---
log = []
with f(log) as context:
    assert context.log == ["enter"]
assert log == ["enter", "leave"]
with f(log):
    raise KeyError(1)
assert log[-1] == "KeyError"
try:
    with f(log):
        raise ValueError
    assert False
except ValueError:
    pass
assert len(log) == 6
