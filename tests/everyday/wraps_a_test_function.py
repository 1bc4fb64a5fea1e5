# expect: passed
# A decorator keeps name and text of a function of the tests.
import functools


def f(function):
    @functools.wraps(function)
    def wrapped(*args, **named):
        wrapped.calls += 1
        return function(*args, **named)
    wrapped.calls = 0
    return wrapped


# --- tests ---
@f
def greet(name, mark="!"):
    """Says hello."""
    return "Hello, " + name + mark


assert greet("Ann") == "Hello, Ann!"
assert greet("Bob", mark="?") == "Hello, Bob?"
assert greet.__name__ == "greet"
assert greet.__doc__ == "Says hello."
assert greet.calls == 2
assert greet.__wrapped__("x") == "Hello, x!"
