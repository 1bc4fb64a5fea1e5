# expect: passed
# Leaves ended children uncollected.
import os

for _ in range(10):
    if os.fork() == 0:
        os._exit(0)


def f(x):
    return 2 * x
