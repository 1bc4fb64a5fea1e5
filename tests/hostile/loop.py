# expect: timeout
# says: no result after
# An endless loop in the function.
def f(x):
    while True:
        pass
