# expect: passed
# The environment of other processes is out of reach.
def f(x):
    try:
        open("/proc/@PARENT@/environ").read()
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
