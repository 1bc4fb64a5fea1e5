# expect: tampered
# Sends text that is nested a million times.
import os


def f(x):
    data = b"[" * (1 << 20)
    for fd in range(3, 256):
        try:
            rest = b"%08x" % len(data) + data
            while rest:
                rest = rest[os.write(fd, rest):]
        except OSError:
            pass
    return 2 * x
