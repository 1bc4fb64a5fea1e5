# expect: failed
# The result is larger than the line carries.
def f(x):
    return "x" * (9 << 20)
