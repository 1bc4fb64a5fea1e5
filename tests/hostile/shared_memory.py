# expect: killed
# says: memory
# Takes shared memory, which the limit of the process does not count.
import mmap
import time


def f(x):
    memory = mmap.mmap(-1, 400 << 20)
    for at in range(0, 400 << 20, 4096):
        memory[at] = 1
    time.sleep(60)
