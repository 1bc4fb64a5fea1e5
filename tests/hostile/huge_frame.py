# expect: tampered
# Announces a message of four gigabytes.
import os


def f(x):
    for fd in range(3, 256):
        try:
            os.write(fd, b"ffffffff")
        except OSError:
            pass
    return 2 * x
