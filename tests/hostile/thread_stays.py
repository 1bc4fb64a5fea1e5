# expect: passed
# A thread never ends; the tests pass all the same, and the thread with them.
import threading
import time

threading.Thread(target=lambda: time.sleep(60)).start()


def f(x):
    return 2 * x
