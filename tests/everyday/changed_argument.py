# expect: passed
# A list that is sorted in place, and nothing else.
def f(xs):
    xs.sort(key=abs)


# --- tests ---
def test_sorts():
    xs = [3, -1, 2]
    assert f(xs) is None
    assert xs == [-1, 2, 3]
