# expect: failed
# says: EOFError
# Waits for input, which ends at once.
def f(x):
    return int(input())
