# expect: passed
# Times of files outside cannot be changed.
import os


def f(x):
    try:
        os.utime("@HOME@/notes", (0, 0))
    except OSError:
        return 2 * x
    return 'it worked'
