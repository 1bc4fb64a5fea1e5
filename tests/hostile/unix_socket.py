# expect: passed
# No local services.
import socket


def f(x):
    try:
        socket.socket(socket.AF_UNIX).connect("@OUTSIDE@/service")
    except PermissionError:
        return 2 * x
    return 'it worked'
