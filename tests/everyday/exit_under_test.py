# expect: passed
# entry: Quiet.__exit__
# The end of a `with` block, which keeps an error to itself.
class Quiet:
    def __init__(self, *kinds):
        self.kinds, self.caught = kinds, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        pass


# --- body ---
class Quiet:
    def __init__(self, *kinds):
        self.kinds, self.caught = kinds, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.caught = error
        return kind is not None and issubclass(kind, self.kinds)


# --- tests ---
with Quiet(ValueError) as quiet:
    raise ValueError("x")
assert isinstance(quiet.caught, ValueError) and str(quiet.caught) == "x"
with Quiet(ValueError) as quiet:
    pass
assert quiet.caught is None
try:
    with Quiet(ValueError):
        raise KeyError(1)
    assert False
except KeyError:
    pass
