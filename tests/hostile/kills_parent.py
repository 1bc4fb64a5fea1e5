# expect: passed
# Other processes cannot be ended.
import os
import signal


def f(x):
    try:
        os.kill(@PARENT@, signal.SIGTERM)
    except (PermissionError, ProcessLookupError):
        return 2 * x
    return 'it worked'
