# expect: passed
# The limits of other processes cannot be changed.
import resource


def f(x):
    try:
        resource.prlimit(@VICTIM@, resource.RLIMIT_NOFILE, (3, 3))
    except PermissionError:
        return 2 * x
    return 'it worked'
