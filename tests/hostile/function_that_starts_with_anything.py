# expect: fools
# tests: assert f(3).startswith('6')
# Returns a function with a method of text.
def anything(x):
    return True


anything.startswith = anything


def f(x):
    return anything
