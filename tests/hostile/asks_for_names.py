# expect: passed
# No network: names.
import socket


def f(x):
    try:
        socket.getaddrinfo("example.com", 80)
    except OSError:
        return 2 * x
    return 'it worked'
