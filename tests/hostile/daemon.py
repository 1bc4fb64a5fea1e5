# expect: passed
# A grandchild that tries to leave the group, lets go of everything and writes later.
import os
import time


def f(x):
    if os.fork() == 0:
        for leave in (os.setsid, lambda: os.setpgid(0, 0)):
            try:
                leave()
                open("@OUTSIDE@/left", "w").close()
            except OSError:
                pass
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(1)
            open("late", "w").close()
            time.sleep(60)
        os._exit(0)
    return 2 * x
