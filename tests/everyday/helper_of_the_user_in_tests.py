# expect: passed
# Helpers and tables of the user's file in the tests.
from string import ascii_lowercase as ALPHABET

EPSILON = 1e-9
SHIFT = 3
TABLE = {c: ALPHABET[(i + SHIFT) % 26] for i, c in enumerate(ALPHABET)}
BACK = {v: k for k, v in TABLE.items()}


def encode(text):
    return "".join(TABLE.get(c, c) for c in text)


# --- body ---
def f(text):
    return ''.join(BACK.get(c, c) for c in text)


# --- tests ---
for text in ("abc", "hello", ""):
    assert f(encode(text)) == text
assert f(encode("xyz")) == "xyz" and len(ALPHABET) == 26
assert abs(len(f("ab")) - 2) < EPSILON
