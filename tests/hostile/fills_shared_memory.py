# expect: passed
# Files in shared memory belong to no process: the folder is small.
import os


def f(x):
    written = 0
    try:
        for number in range(4096):
            with open("/dev/shm/%d" % number, "wb", 0) as file:
                for _ in range(32):
                    written += file.write(bytes(1 << 16))
    except OSError:
        pass
    return 2 * x if written <= 16 << 20 else written
