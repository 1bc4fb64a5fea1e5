# expect: failed tampered
# Answers the judge itself, before the true answer comes: still only a value.
import os


def f(x):
    answer = b'["!",false,6,[],["",[],[]],[]]'
    for fd in range(3, 256):
        try:
            os.write(fd, b"%08x" % len(answer) + answer)
        except OSError:
            pass
    return 0
