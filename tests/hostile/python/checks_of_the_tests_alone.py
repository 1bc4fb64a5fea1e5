# The only asserts that run have nothing to do with the code.
def f(x):
    return {}


# --- tests ---
def test_f():
    assert 1 + 1 == 2
    for name, value in f(3).items():
        assert value == 6
