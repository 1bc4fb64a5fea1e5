# expect: passed
# No file of the parent is open in here.
import os


def f(x):
    found = []
    for fd in range(3, 4096):
        try:
            found.append((fd, os.fstat(fd).st_mode))
        except OSError:
            pass
    # The two ends of the line to the tests, and nothing else.
    return 2 * x if len(found) == 2 and all((mode & 0o170000) == 0o010000 for _, mode in found) else found
