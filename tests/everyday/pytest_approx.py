# expect: passed
# Numbers that are nearly equal, alone and in containers.
def f(n):
    return [0.1 * i for i in range(n)]


# --- tests ---
from pytest import approx


def test_numbers():
    assert f(4)[3] == approx(0.3)
    assert f(4)[3] != approx(0.31)
    assert 0.3 == approx(f(4)[3])


def test_lists():
    assert f(3) == approx([0, 0.1, 0.2])
    assert f(3) != approx([0, 0.1])
    assert {"a": f(4)[3]} == approx({"a": 0.3})


def test_tolerance():
    assert f(2)[1] == approx(0.1001, abs=1e-3)
    assert f(2)[1] == approx(0.11, rel=0.1)
    assert f(2)[1] != approx(0.11, rel=0.01)
