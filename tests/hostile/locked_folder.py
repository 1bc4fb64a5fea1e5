# expect: passed
# Leaves folders that it may not enter itself.
import os

os.makedirs("a/b")
os.umask(0o777)
os.mkdir("a/locked")


def f(x):
    return 2 * x
