# The examples of a docstring know their module.
# entry: shout
# tests: examples
# --- pkg/helper.py ---
def upper(text):
    return text.upper()
# --- pkg/code.py ---
from . import helper

MARK = "!"


class Loud(str):
    def __repr__(self):
        return "Loud(%s)" % str(self)


def shout(text):
    """Louder.

    >>> shout("a") + MARK
    'A!!'
    >>> shout("b")
    Loud(B!)
    >>> shout(1)
    Traceback (most recent call last):
        ...
    AttributeError: 'int' object has no attribute 'upper'
    >>> helper.upper("c")
    'C'
    """
    return Loud(helper.upper(text) + MARK)
