# expect: killed
# Ends the process that answers.
import os
import signal


def f(x):
    os.kill(os.getpid(), signal.SIGKILL)
