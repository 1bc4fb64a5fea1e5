# expect: passed
# The memory of other processes is out of reach.
def f(x):
    try:
        open("/proc/@PARENT@/mem", "r+b")
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
