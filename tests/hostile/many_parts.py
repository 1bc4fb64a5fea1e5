# expect: tampered killed
# Sends millions of small parts, which take far more memory than their text.
import os


def f(x):
    data = b'["!",false,[' + b",".join([b'["t"]'] * 1600000) + b'],[],["",[],[]],[]]'
    for fd in range(3, 256):
        try:
            rest = b"%08x" % len(data) + data
            while rest:
                rest = rest[os.write(fd, rest):]
        except OSError:
            pass
    return 2 * x
