# expect: passed
# The forked copy comes to the tests while the first process, which has reported, waits for a thread.
import os
import threading
import time

if os.fork() == 0:
    time.sleep(0.3)
else:
    threading.Timer(0.9, int).start()


def f(x):
    return 2 * x
