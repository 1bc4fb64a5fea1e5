# expect: killed
# says: SIGSEGV
# Reads address 0.
import ctypes


def f(x):
    return ctypes.string_at(0)
