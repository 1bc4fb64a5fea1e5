# expect: timeout
# Stops itself instead of answering.
import os
import signal


def f(x):
    os.kill(os.getpid(), signal.SIGSTOP)
