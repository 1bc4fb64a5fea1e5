# expect: passed
# A cache around a function of the tests that counts.
import functools


def f(function):
    cache = {}

    @functools.wraps(function)
    def wrapped(*args):
        if args not in cache:
            cache[args] = function(*args)
        return cache[args]

    wrapped.cache = cache
    return wrapped


# --- tests ---
calls = []


@f
def square(x):
    calls.append(x)
    return x * x


assert [square(2), square(2), square(3)] == [4, 4, 9]
assert calls == [2, 3]
assert square.cache == {(2,): 4, (3,): 9}
