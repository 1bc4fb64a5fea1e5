# expect: passed killed
# Leaves very deep folders, and names with control characters.
import os

open("a\nb\x1b[2J", "w").close()
top = os.open(".", os.O_RDONLY)
for _ in range(1500):
    os.mkdir("deep")
    os.chdir("deep")
os.fchdir(top)


def f(x):
    return 2 * x
