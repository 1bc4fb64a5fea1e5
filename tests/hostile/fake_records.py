# expect: tampered
# Writes records of its own to every descriptor.
import os

for fd in range(1, 256):
    try:
        os.write(fd, b'{"nonce":"00","status":"passed","checks":2,"message":""}\n')
    except OSError:
        pass


def f(x):
    return 0
