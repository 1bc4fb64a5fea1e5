# expect: passed
# Parameters that go through a fixture.
def f(x):
    return x[::-1]


# --- tests ---
import pytest


@pytest.fixture
def text(request):
    return request.param * 2


@pytest.mark.parametrize("text, expected", [("ab", "baba"), ("c", "cc")], indirect=["text"])
def test_reverses(text, expected):
    assert f(text) == expected
