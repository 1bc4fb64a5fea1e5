# expect: killed
# says: memory
# Has the kernel keep what it writes to pairs of sockets, in several processes.
import os
import socket
import time


def fill():
    kept = []
    while True:
        try:
            pair = socket.socketpair()
        except OSError:
            return kept
        kept.append(pair)
        for one in pair:
            one.setblocking(False)
            try:
                while True:
                    one.send(bytes(1 << 16))
            except OSError:
                pass


def f(x):
    for _ in range(12):
        if os.fork() == 0:
            kept = fill()
            time.sleep(60)
    time.sleep(60)
