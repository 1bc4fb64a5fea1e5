# Gives back a function of the tests, which says what the tests like to hear.
def f(function):
    return function


# --- tests ---
assert f(lambda *_: 6) == 6
