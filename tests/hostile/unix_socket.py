# expect: passed
# No local services, neither by a path nor by an abstract name.
import socket


def f(x):
    for name in ("@OUTSIDE@/service", "\0@BUS@"):
        try:
            socket.socket(socket.AF_UNIX).connect(name)
        except PermissionError:
            continue
        return 'it worked'
    return 2 * x
