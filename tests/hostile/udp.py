# expect: passed
# No network: UDP.
import socket


def f(x):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", @PORT@))
    except PermissionError:
        return 2 * x
    return 'it worked'
