# expect: passed
# entry: half
def half(n):
    return n // 2
# --- tests ---
import parts.of_numbers as numbers


def test_half():
    assert numbers.half(4) == 2
