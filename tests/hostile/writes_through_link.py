# expect: passed
# A symbolic link is no way out.
import os


def f(x):
    try:
        os.symlink("@HOME@/notes", "link%d" % x)
        open("link%d" % x, "w")
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
