# expect: passed timeout killed tampered error
# Takes the questions off the line, when it is quick enough. An error where other programs of the same user have
# taken all threads that it may have.
import os
import threading


def take():
    while True:
        for fd in range(3, 16):
            try:
                if not os.read(fd, 1 << 16):
                    return
            except OSError:
                pass


threading.Thread(target=take, daemon=True).start()


def f(x):
    return 2 * x
