# expect: passed
# Classes with fixtures and what is done before and after.
def f(stack, x):
    stack.append(x)
    return stack


# --- tests ---
import pytest


@pytest.fixture
def outer():
    return [0]


class TestStack:
    @classmethod
    def setup_class(cls):
        cls.made = 0

    def setup_method(self, method):
        self.stack = []
        type(self).made += 1

    def teardown_method(self):
        assert len(self.stack) <= 1

    @pytest.fixture
    def inner(self, outer):
        return outer + [1]

    def test_a(self):
        assert f(self.stack, 1) == [1]

    def test_b(self, inner):
        assert f(inner, 2) == [0, 1, 2]
        assert self.made == 2

    @pytest.mark.parametrize("x", [1, 2])
    def test_c(self, x, outer):
        assert f(outer, x)[-1] == x


class TestDerived(TestStack):
    def test_d(self):
        assert f(self.stack, 7) == [7]
