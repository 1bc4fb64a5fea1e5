# expect: killed
# says: printed more than
# Writes to stderr without end.
import os


def f(x):
    while True:
        os.write(2, b"error " * 1000)
