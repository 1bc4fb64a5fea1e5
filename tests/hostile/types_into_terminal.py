# expect: passed
# Nothing can be typed into the user's terminal.
import fcntl


def f(x):
    for fd in (0, 1, 2):
        try:
            fcntl.ioctl(fd, 0x5412, b"x")
            return "it worked"
        except OSError:
            pass
    return 2 * x
