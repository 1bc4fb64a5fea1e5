# expect: passed
# Sends datagrams to local services from a pair of sockets, which could name any address.
import socket


def f(x):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        for name in ("@OUTSIDE@/log", "@OUTSIDE@/service", "\0@BUS@"):
            for way in ("sendto", "connect"):
                try:
                    one, _other = socket.socketpair(socket.AF_UNIX, kind)
                    one.sendto(b"x", name) if way == "sendto" else one.connect(name)
                except OSError:
                    continue
                if kind != socket.SOCK_SEQPACKET or way == "connect":
                    return 'it worked: %s %s' % (way, kind)
    return 2 * x
