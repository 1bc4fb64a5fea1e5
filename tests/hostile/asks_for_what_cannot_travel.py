# expect: failed
# tests: import re; assert f(lambda: re.compile('x')) == 6
# Asks a function of the tests for what cannot travel between two processes: no way into one process.
def f(function):
    return function()
