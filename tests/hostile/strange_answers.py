# expect: tampered
# tests: assert f(3) is not None
# Sends a message with a tag that does not exist.
import os


def f(x):
    data = b'["!",false,["x",0,"os.system","true"],[],["",[],[]],[]]'
    for fd in range(3, 256):
        try:
            os.write(fd, b"%08x" % len(data) + data)
        except OSError:
            pass
    return 2 * x
