# expect: killed
# says: exit code 0
# A thread leaves with 0 while the tests run.
import os
import threading
import time

threading.Timer(0.2, lambda: os._exit(0)).start()


def f(x):
    time.sleep(60)
