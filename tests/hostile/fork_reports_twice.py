# expect: passed
# The forked copy runs on into the tests and must not report too.
import os

os.fork()


def f(x):
    return 2 * x
