# expect: passed
# Fixtures that are used by name only.
def f(x):
    return x + 1


# --- tests ---
import pytest

seen = []


@pytest.fixture(name="noted")
def note():
    seen.append(1)
    yield
    seen.append(2)


@pytest.mark.usefixtures("noted")
def test_a():
    assert seen == [1]
    assert f(1) == 2


def test_b():
    assert seen == [1, 2]
    assert f(2) == 3
