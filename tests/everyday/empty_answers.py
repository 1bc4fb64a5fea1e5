# expect: passed
# Empty answers under `all`, `any` and loops, beside one that is not.
def f(xs):
    return [x for x in xs if x % 2]


# --- tests ---
def test_empty():
    assert all(x % 2 for x in f([]))
    assert not any(f([]))
    for x in f([2, 4]):
        assert x % 2


def test_some():
    assert all(x % 2 for x in f(range(10)))
    assert f([1, 2, 3]) == [1, 3]
