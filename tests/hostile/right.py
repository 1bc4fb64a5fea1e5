# expect: passed
# The right answer.
def f(x):
    return 2 * x
