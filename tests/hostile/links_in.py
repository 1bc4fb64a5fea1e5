# expect: passed
# Files outside cannot be linked into the folder.
import os


def f(x):
    try:
        os.link("@HOME@/notes", "mine")
    except OSError:
        return 2 * x
    return 'it worked'
