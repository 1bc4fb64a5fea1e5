# expect: failed timeout
# tests: assert f(3) in {6, 8}
# Sleeps when hashed: nobody asks it.
import time


class Slow:
    def __hash__(self):
        time.sleep(60)
        return 6


def f(x):
    return Slow()
