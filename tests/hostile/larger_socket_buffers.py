# expect: passed
# What the kernel keeps for a socket stays as small as it is.
import socket


def f(x):
    one, _other = socket.socketpair()
    before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    for option in (socket.SO_SNDBUF, 32, socket.SO_RCVBUF, 33):
        try:
            one.setsockopt(socket.SOL_SOCKET, option, 1 << 30)
        except OSError:
            pass
    return 2 * x if one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before else "larger"
