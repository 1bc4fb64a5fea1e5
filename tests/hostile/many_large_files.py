# expect: killed
# says: wrote too much
# Writes many files, each within the limit.
import time


def f(x):
    for number in range(8):
        with open("file%d" % number, "wb") as file:
            file.write(bytes(3 << 20))
    time.sleep(60)
