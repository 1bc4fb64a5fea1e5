# Tries to leave the sandbox: gets a folder outside on descriptor 3 and says on descriptor 4 what worked.
import json
import os
import socket

outside = os.fdopen(3, "rb").read().decode()


def works(act):
    try:
        act()
        return True
    except OSError:
        return False


result = {
    "read": works(lambda: open(outside + "/secret").close()),
    "write": works(lambda: open(outside + "/new", "w").close()),
    "socket": works(lambda: socket.socket().close()),
    "own": works(lambda: open("own", "w").close()),
}
os.write(4, json.dumps(result).encode())
