# expect: passed
# No network: waiting for connections.
import socket


def f(x):
    try:
        socket.socket().bind(("127.0.0.1", 0))
    except PermissionError:
        return 2 * x
    return 'it worked'
