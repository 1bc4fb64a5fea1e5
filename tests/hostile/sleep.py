# expect: timeout
# A long sleep.
import time


def f(x):
    time.sleep(60)
    return 2 * x
