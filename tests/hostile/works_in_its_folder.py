# expect: passed
# Files in the folder, temporary ones too, and other programs are allowed.
import os
import subprocess
import tempfile


def f(x):
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("2")
        file.seek(0)
        return int(file.read()) * int(subprocess.run(["/bin/echo", str(x)], stdout=subprocess.PIPE).stdout)
