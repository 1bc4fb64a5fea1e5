# expect: passed
# No local services, neither by a path nor by an abstract name.
import socket


def f(x):
    for name in ("@OUTSIDE@/service", "@OUTSIDE@/log", "\0@BUS@"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            try:
                socket.socket(socket.AF_UNIX, kind).connect(name)
            except OSError:
                continue
            return 'it worked'
    return 2 * x
