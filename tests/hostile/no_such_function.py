# expect: error
# says: does not define `f`
# The function is missing.
def g(x):
    return 2 * x
