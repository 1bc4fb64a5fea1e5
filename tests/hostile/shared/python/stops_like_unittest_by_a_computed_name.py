# The same, found by a name that is put together.
import sys


def f(x):
    case = sys.modules.get("unittest" + ".case")
    raise getattr(case, "_Should" + "Stop") if case else ValueError(x)
