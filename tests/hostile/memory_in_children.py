# expect: killed
# says: memory
# Takes memory in several processes.
import os
import time


def f(x):
    for _ in range(4):
        if os.fork() == 0:
            kept = bytearray(100 << 20)
            for at in range(0, len(kept), 4096):
                kept[at] = 1
            time.sleep(60)
    time.sleep(60)
