# expect: killed failed timeout
# Starts threads without end.
import threading
import time


def f(x):
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
