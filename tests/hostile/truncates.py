# expect: passed
# Files outside cannot be emptied.
import os


def f(x):
    try:
        os.truncate("@HOME@/notes", 0)
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
