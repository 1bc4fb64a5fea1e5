# expect: killed passed
# Has the kernel keep what it writes to local connections that nobody accepts, and datagrams that nobody reads.
import os
import socket
import time


def fill(name, kind):
    while True:
        try:
            client = socket.socket(socket.AF_UNIX, kind)
            client.connect(name)
            client.setblocking(False)
            while True:
                client.send(bytes(1 << 14))
        except BlockingIOError:
            client.close()
        except OSError:
            time.sleep(0.1)


def f(x):
    try:
        kinds = 14 * [socket.SOCK_STREAM] + 2 * [socket.SOCK_DGRAM]
        services = [socket.socket(socket.AF_UNIX, kind) for kind in kinds]
    except PermissionError:
        return "used more memory" if "@TIER@" == "full" else 2 * x
    for number, service in enumerate(services):
        service.bind("s%d" % number)
        if service.type == socket.SOCK_STREAM:
            service.listen(4096)
        if os.fork() == 0:
            fill("s%d" % number, service.type)
    time.sleep(60)
