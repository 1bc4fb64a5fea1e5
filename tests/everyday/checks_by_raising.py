# expect: passed
# Checks of the tests that raise themselves.
def f(x):
    return x * 2


# --- tests ---
def expect(found, wanted):
    if found != wanted:
        raise ValueError("%r is not %r" % (found, wanted))


def test_a():
    expect(f(2), 4)


def test_b():
    if f(3) != 6:
        raise AssertionError("no")
