# expect: passed
# Examples in the docstring of the tests file.
def f(xs):
    return sorted(set(xs))


def show(xs):
    for x in f(xs):
        print(x)


# --- tests ---
"""
>>> f([3, 1, 3])
[1, 3]
>>> show([2, 1])
1
2
>>> f(None)
Traceback (most recent call last):
    ...
TypeError: 'NoneType' object is not iterable
"""
