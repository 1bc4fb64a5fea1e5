# expect: passed
# What the kernel keeps for a socket stays as small as it is. To wish for another size is no error.
import socket


def f(x):
    one, _other = socket.socketpair()
    before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        one.setsockopt(socket.SOL_SOCKET, option, 1)
        one.setsockopt(socket.SOL_SOCKET, option, 1 << 30)
    for option in (32, 33):
        try:
            one.setsockopt(socket.SOL_SOCKET, option, 1 << 30)
            return "a buffer was forced"
        except PermissionError:
            pass
    return 2 * x if one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before else "larger"
