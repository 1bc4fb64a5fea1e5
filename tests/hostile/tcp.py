# expect: passed
# No network outside: TCP. In the tier full the loopback interface is another one, where nobody listens.
import socket


def f(x):
    for address in ("127.0.0.1", "127.0.1.1", "::1", "@ADDRESS@"):
        try:
            socket.create_connection((address, @PORT@), 1)
        except PermissionError:
            continue
        except OSError as error:
            if "@TIER@" == "full" and not isinstance(error, TimeoutError):
                continue
            return repr(error)
        return 'it worked: ' + address
    return 2 * x
