# expect: passed
# Prints bytes that are no UTF-8, and a very long line.
import os


def f(x):
    os.write(1, b"\xff\xfe\x00" + b"y" * (1 << 20))
    return 2 * x
