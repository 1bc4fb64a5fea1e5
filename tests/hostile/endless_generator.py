# expect: timeout killed
# tests: assert list(f(3)) == [6]
# A generator that never ends.
def f(x):
    while True:
        yield 2 * x
