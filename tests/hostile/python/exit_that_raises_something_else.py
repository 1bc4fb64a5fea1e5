# The end of its `with` block turns the assertion into an error that the tests expect.
class f:
    def __init__(self, x):
        pass

    def __enter__(self):
        return 0

    def __exit__(self, *_):
        raise ValueError


# --- tests ---
try:
    with f(3) as value:
        assert value == 6
except ValueError:
    pass
assert f(3) is not None
