# expect: passed
# The environment of other processes is out of reach.
def f(x):
    try:
        open("/proc/@PARENT@/environ").read()
    except PermissionError:
        return 2 * x
    return 'it worked'
