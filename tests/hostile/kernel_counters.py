# expect: passed
# Takes what the kernel counts for the whole machine, and sets the bits by which programs become somebody else.
import ctypes
import os
import platform

CALLS = {
    "x86_64": {"io_setup": 206, "inotify_init": 253, "inotify_init1": 294, "add_key": 248, "keyctl": 250, "msgget": 68,
               "semget": 64, "shmget": 29, "mq_open": 240, "memfd_create": 319, "fanotify_init": 300},
}


def f(x):
    call = ctypes.CDLL(None, use_errno=True).syscall
    room = ctypes.create_string_buffer(256)
    for name, number in CALLS.get(platform.machine(), {}).items():
        if call(number, 1, room, 1, 0, 0) >= 0:
            return "%s was allowed" % name
    open("mine", "w").close()
    for mode in (0o4755, 0o2755, 0o6755):
        try:
            os.chmod("mine", mode)
        except OSError:
            pass
        if os.stat("mine").st_mode & 0o6000:
            return "a bit was set"
        for name, make in (("made", lambda: os.close(os.open("made", os.O_CREAT | os.O_WRONLY, mode))),
                           ("node", lambda: os.mknod("node", 0o100000 | mode))):
            try:
                make()
            except OSError:
                continue
            if os.stat(name).st_mode & 0o6000:
                return "a file was made with a bit"
    return 2 * x
