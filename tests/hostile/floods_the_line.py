# expect: tampered timeout
# Writes to the line without end, and reads what the judge says.
import os
import threading


def flood():
    while True:
        for fd in range(3, 16):
            try:
                os.write(fd, b"0000000500000" * 1000)
            except OSError:
                pass


def f(x):
    threading.Thread(target=flood, daemon=True).start()
    flood()
