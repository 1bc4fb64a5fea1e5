# expect: timeout
# Sleeps when compared.
import time


class Slow:
    def __eq__(self, other):
        time.sleep(60)
        return True


def f(x):
    return Slow()
