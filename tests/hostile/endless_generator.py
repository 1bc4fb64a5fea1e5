# expect: timeout killed failed
# tests: assert list(f(3)) == [6]
# A generator that never ends: a fast machine is out of memory before the time is over.
def f(x):
    while True:
        yield 2 * x
