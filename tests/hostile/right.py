# expect: passed
# says: 2 checks
# The right answer.
def f(x):
    return 2 * x
