# expect: passed
# No network outside: UDP. In the tier full the datagram goes nowhere, which the receiver shows.
import socket


def f(x):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", @PORT@))
    except PermissionError:
        return 2 * x
    return 2 * x if "@TIER@" == "full" else 'it worked'
