# expect: failed timeout killed
# tests: g = lambda x: f(g); assert f(g) == 6
# Calls back and forth without end.
def f(function):
    return function(1)
