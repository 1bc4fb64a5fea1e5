# expect: passed
# Nor an unrelated process of the same user.
import os
import signal


def f(x):
    try:
        os.kill(@VICTIM@, signal.SIGKILL)
    except (PermissionError, ProcessLookupError):
        return 2 * x
    return 'it worked'
