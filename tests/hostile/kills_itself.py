# expect: killed failed
# Kills its whole group.
import os
import signal


def f(x):
    os.killpg(0, signal.SIGKILL)
