# expect: passed
# The home folder cannot be deleted.
import os
import shutil


def f(x):
    try:
        os.unlink("@HOME@/notes")
        shutil.rmtree("@HOME@")
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
