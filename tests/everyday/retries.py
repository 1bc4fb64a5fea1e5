# expect: passed
# A function of the tests fails twice, and is called again.
def f(function, times):
    for left in range(times, 0, -1):
        try:
            return function()
        except ConnectionError:
            if left == 1:
                raise


# --- tests ---
attempts = []


def flaky():
    attempts.append(1)
    if len(attempts) < 3:
        raise ConnectionError("down")
    return "up"


assert f(flaky, 5) == "up"
assert len(attempts) == 3
attempts.clear()
try:
    f(flaky, 2)
    assert False, "it must raise"
except ConnectionError as error:
    assert str(error) == "down"
