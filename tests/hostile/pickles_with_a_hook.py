# expect: failed
# says: expected 6
# An object that runs code where it is unpacked.
import os


class Hook:
    def __reduce__(self):
        return os._exit, (0,)


def f(x):
    return Hook()
