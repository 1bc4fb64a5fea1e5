# expect: killed
# says: exit code 0
# Becomes the program `true`, which ends with 0.
import os


def f(x):
    os.execv('/bin/true', ['true'])
