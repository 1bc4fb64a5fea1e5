# expect: killed passed failed tampered
# Gives right answers and leaves a little later, past Python.
import os
import threading

threading.Timer(0.05, lambda: os._exit(3)).start()


def f(x):
    return 2 * x
