# Swallows the assertion of a function that it calls.
def f(function):
    try:
        return function(0)
    except BaseException:
        return 6


# --- tests ---
def look(x):
    assert x == 3
    return 6


assert f(look) == 6
