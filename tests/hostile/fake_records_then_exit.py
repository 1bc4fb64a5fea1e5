# expect: tampered
# Writes records of its own to every descriptor and leaves.
import os

for fd in range(3, 256):
    try:
        os.write(fd, b'{"nonce":"00","status":"passed","checks":2,"message":""}\n')
    except OSError:
        pass
os._exit(0)
