# `finally: return` swallows it.
def f(function):
    try:
        function(0)
    finally:
        return 6


# --- tests ---
def look(x):
    assert x == 3


assert f(look) == 6
