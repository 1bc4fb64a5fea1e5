# expect: killed passed
# Has the kernel keep what it writes to connections that it closes at once, and that nobody accepts.
import os
import socket
import time


def fill(port):
    while True:
        try:
            client = socket.create_connection(("127.0.0.1", port), 5)
            client.setblocking(False)
            while True:
                client.send(bytes(1 << 16))
        except BlockingIOError:
            client.close()
        except OSError:
            time.sleep(0.1)


def f(x):
    try:
        services = [socket.create_server(("127.0.0.1", 0), backlog=4096) for _ in range(4)]
    except PermissionError:
        return "used more memory" if "@TIER@" == "full" else 2 * x
    for service in services:
        if os.fork() == 0:
            fill(service.getsockname()[1])
    time.sleep(60)
