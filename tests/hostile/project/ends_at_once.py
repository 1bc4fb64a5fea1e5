# Ends the process in the middle of a call.
# --- candidate ---
from .helper import twice


import os


def f(x):
    os._exit(0)
