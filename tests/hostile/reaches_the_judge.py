# expect: passed
# Looks for the process with the tests among its neighbours: neither signals nor memory nor descriptors reach it.
import os


def f(x):
    own = os.getpid()
    for pid in list(range(max(2, own - 40), own)) + list(range(own + 1, own + 40)):
        try:
            os.kill(pid, 0)
            return "a signal reaches %d" % pid
        except OSError:
            pass
        for name in ("mem", "fd", "environ", "maps"):
            try:
                os.listdir("/proc/%d/fd" % pid) if name == "fd" else open("/proc/%d/%s" % (pid, name), "rb").close()
                return "%s of %d is open" % (name, pid)
            except OSError:
                pass
    return 2 * x
