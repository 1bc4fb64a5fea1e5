# expect: passed
# No network: TCP.
import socket


def f(x):
    try:
        socket.create_connection(("127.0.0.1", @PORT@), 1)
    except PermissionError:
        return 2 * x
    return 'it worked'
