# expect: passed
# Waiting for connections works in the tier full, for the program itself.
import socket


def f(x):
    try:
        service = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(("localhost", service.getsockname()[1]), 5)
        client.sendall(b"x")
        local = socket.socket(socket.AF_UNIX)
        local.bind("here%d" % x)
        local.listen()
        socket.socket(socket.AF_UNIX).connect("here%d" % x)
        worked = service.accept()[0].recv(1) == b"x" and bool(local.accept())
    except PermissionError:
        worked = False
    return 2 * x if worked == ("@TIER@" == "full") else worked
