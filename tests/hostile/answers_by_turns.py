# expect: failed
# says: f(4) gave 6, expected 8
# Right only once.
def f(x):
    return 6
