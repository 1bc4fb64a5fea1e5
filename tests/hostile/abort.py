# expect: killed
# says: SIGABRT
# Aborts.
import os


def f(x):
    os.abort()
