# expect: killed
# says: was ended by SIG
# Aborts.
import os


def f(x):
    os.abort()
