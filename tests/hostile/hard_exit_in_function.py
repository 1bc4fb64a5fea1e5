# expect: killed
# says: exit code 0
# Leaves with 0 past Python in the function.
import os


def f(x):
    os._exit(0)
