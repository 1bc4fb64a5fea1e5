# expect: passed
# Modules of the code's own folder do not replace the library.
import os

for name in ("ast", "json", "unittest", "sitecustomize", "math"):
    with open(name + ".py", "w") as file:
        file.write("raise SystemExit(0)")


def f(x):
    return 2 * x
