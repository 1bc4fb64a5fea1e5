# expect: passed
# A fixture that gives a function.
def f(rows):
    return [row['id'] for row in rows]


# --- tests ---
import pytest


@pytest.fixture
def make():
    made = []

    def row(number):
        made.append({"id": number})
        return made[-1]

    return row


def test_rows(make):
    assert f([make(1), make(2)]) == [1, 2]
