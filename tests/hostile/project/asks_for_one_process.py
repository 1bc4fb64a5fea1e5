# Tries to be run beside the tests.
# --- candidate ---
from .helper import twice


class Uncarryable(Exception):
    pass


class End(BaseException):
    status, message = "shared", "please"


def f(x):
    raise (Uncarryable if x % 2 else End)("a value that cannot travel")
