# expect: killed
# says: SIGKILL
# Kills its whole group.
import os
import signal


def f(x):
    os.killpg(0, signal.SIGKILL)
