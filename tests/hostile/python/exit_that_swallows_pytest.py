# The same with an error that did not come.
class f:
    def __init__(self, x):
        pass

    def __enter__(self):
        return 0

    def __exit__(self, *_):
        return True


# --- tests ---
import pytest


def test_f():
    with f(3) as value:
        with pytest.raises(ValueError):
            pass
