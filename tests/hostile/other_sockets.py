# expect: passed
# No sockets but those of TCP and UDP, and local ones where no service is in reach: raw, ping, packet, netlink, vsock, multipath.
import socket

KINDS = (
    (socket.AF_INET, socket.SOCK_RAW, 255),
    (socket.AF_INET, socket.SOCK_RAW, 6),
    (socket.AF_INET6, socket.SOCK_RAW, 58),
    (socket.AF_INET, socket.SOCK_DGRAM, 1),
    (socket.AF_INET, socket.SOCK_STREAM, 262),
    (socket.AF_INET, socket.SOCK_STREAM, 132),
    (socket.AF_INET, socket.SOCK_SEQPACKET, 0),
    (17, socket.SOCK_RAW, 0),
    (17, socket.SOCK_DGRAM, 0),
    (16, socket.SOCK_RAW, 0),
    (16, socket.SOCK_DGRAM, 15),
    (40, socket.SOCK_STREAM, 0),
    (38, socket.SOCK_SEQPACKET, 0),
    (30, socket.SOCK_STREAM, 0),
    (socket.AF_UNIX, socket.SOCK_SEQPACKET, 0),
    (socket.AF_UNIX, socket.SOCK_RAW, 0),
)
if "@TIER@" != "full":
    KINDS += ((socket.AF_UNIX, socket.SOCK_STREAM, 0), (socket.AF_UNIX, socket.SOCK_DGRAM, 0))


def f(x):
    for kind in KINDS:
        for make in (socket.socket, socket.socketpair):
            if make is socket.socketpair and kind[:2] in ((1, socket.SOCK_STREAM), (1, socket.SOCK_SEQPACKET)):
                continue
            try:
                made = make(*kind)
            except PermissionError:
                continue
            except OSError as error:
                return '%s %s was tried: %s' % (make.__name__, kind, error)
            return '%s %s was allowed' % (make.__name__, kind)
    return 2 * x
