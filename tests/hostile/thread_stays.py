# expect: timeout
# A thread goes on for a minute: the process does not end by itself, and Python waits for it.
import threading
import time

threading.Thread(target=lambda: time.sleep(60)).start()


def f(x):
    return 2 * x
