# expect: passed
# A child cannot leave the process group.
import os


def f(x):
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
        except PermissionError:
            os._exit(7)
        os._exit(0)
    return 2 * x if os.waitpid(child, 0)[1] >> 8 == 7 else "it worked"
