# Changes a small number that all code shares.
import ctypes


def f(x):
    ctypes.memmove(id(6) + 24, id(0) + 24, 4)
    return 0
