# expect: passed
# Nor those of files that can be read.
import os


def f(x):
    try:
        os.fchmod(os.open(os.__file__, os.O_RDONLY), 0o644)
    except OSError:
        return 2 * x
    return 'it worked'
