# expect: passed
# Tests that are skipped, and those that are known to fail.
def f(x):
    return 2 * x


# --- tests ---
import sys

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.skip(reason="not yet")
def test_skipped():
    assert f(1) == 3


@pytest.mark.skipif(sys.version_info >= (3,), reason="old")
def test_old():
    assert f(1) == 3


@pytest.mark.xfail(reason="known")
def test_known():
    assert f(1) == 3


@pytest.mark.xfail(raises=TypeError)
def test_known_error():
    f(None)
    raise TypeError


@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.xfail), pytest.param(3, marks=pytest.mark.skip)])
def test_some(x):
    assert f(x) == 2


@pytest.mark.slow
class TestMore:
    def test_imperative(self):
        if f(1) == 2:
            pytest.skip("as it is")
        pytest.fail("no")

    def test_right(self):
        assert f(2) == 4
