# expect: killed
# Closes all descriptors, so that no report can come.
import os

os.closerange(0, 256)


def f(x):
    return 2 * x
