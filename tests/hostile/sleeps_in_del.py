# expect: passed timeout
# Sleeps when it is thrown away.
import time


class Slow:
    def __del__(self):
        time.sleep(60)


kept = Slow()


def f(x):
    return 2 * x
