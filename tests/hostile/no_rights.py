# expect: passed
# No capabilities, also for root, and no way to gain any.
import ctypes


def f(x):
    libc = ctypes.CDLL(None)
    held = [number for number in range(41) if libc.prctl(23, number, 0, 0, 0) == 1]
    return 2 * x if libc.prctl(39, 0, 0, 0, 0) == 1 and (not held or @USER@ != 0) else held
