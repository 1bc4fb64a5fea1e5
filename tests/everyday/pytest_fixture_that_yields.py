# expect: passed
# A fixture with an end, one that leads to another, and one for all tests.
def f(log, word):
    log.append(word)
    return len(log)


# --- tests ---
import pytest

ended = []


@pytest.fixture(scope="module")
def words():
    return ["a", "b"]


@pytest.fixture
def log(words):
    made = list(words)
    yield made
    ended.append(len(made))


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    assert len(ended) <= 2


def test_first(log):
    assert f(log, "c") == 3


def test_second(log, words):
    assert f(log, "d") == 3
    assert words == ["a", "b"]
    assert log == ["a", "b", "d"]
