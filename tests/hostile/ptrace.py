# expect: passed
# Other processes cannot be traced, and namespaces not be made.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    attached = libc.ptrace(16, @PARENT@, 0, 0)
    unshared = libc.unshare(0x10000000)
    return 2 * x if attached == -1 and unshared == -1 else "it worked"
