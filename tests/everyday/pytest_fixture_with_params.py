# expect: passed
# A fixture with parameters, and `request`.
def f(x, base):
    return int(str(x), base)


# --- tests ---
import pytest


@pytest.fixture(params=[2, 8, pytest.param(10, id="ten")], ids=str)
def base(request):
    return request.param


@pytest.fixture
def closing(request):
    request.addfinalizer(lambda: None)
    return request.getfixturevalue("base")


def test_one(base):
    assert f(1, base) == 1
    assert f("10", base) == base


def test_two(closing, base):
    assert closing == base
    assert f("11", base) == base + 1
