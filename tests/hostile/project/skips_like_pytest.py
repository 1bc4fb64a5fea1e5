# The same, with an error of a class of the right name.
# --- candidate ---
from .helper import twice


class Skipped(BaseException):
    msg, pytrace, allow_module_level, _use_item_location = "", False, True, False


Skipped.__module__ = "_pytest.outcomes"


def f(x):
    raise Skipped
