# What cannot be carried is a result like others.
# --- candidate ---
from .helper import twice


import sys
import threading


def f(x):
    return threading.Lock() if x % 2 else sys._getframe()
