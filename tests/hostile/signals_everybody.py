# expect: passed
# A signal to everybody reaches nobody outside (a harmless one, in case it does).
import os
import signal


def f(x):
    try:
        os.kill(-1, signal.SIGCONT)
    except OSError:
        pass
    return 2 * x
