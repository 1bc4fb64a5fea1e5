# expect: passed
# A fixture of the file's own.
def f(xs):
    return sum(xs) / len(xs)


# --- tests ---
import pytest


@pytest.fixture
def numbers():
    return [1, 2, 3]


def test_mean(numbers):
    assert f(numbers) == 2


def test_mean_of_one():
    assert f([5]) == pytest.approx(5.0)
