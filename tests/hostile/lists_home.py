# expect: passed
# The home folder cannot be listed.
import os


def f(x):
    try:
        os.listdir("@HOME@")
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
