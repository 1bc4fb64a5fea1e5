# expect: passed
# Files cannot be moved out of the folder, nor linked into it.
import os


def f(x):
    try:
        open("mine", "w").close()
        os.rename("mine", "@OUTSIDE@/made")
    except OSError:
        return 2 * x
    return 'it worked'
