# expect: passed
# An error that has to come, without any assert.
def f(x):
    if x < 0:
        raise ValueError('negative')
    return x


# --- tests ---
def test_negative():
    try:
        f(-1)
    except ValueError:
        return
    raise AssertionError("no error")
