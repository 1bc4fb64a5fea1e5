# expect: passed
# The environment holds nothing of the user's.
import os


def f(x):
    allowed = {"LANG", "TZ", "PYTHONHASHSEED", "HOME", "TMPDIR", "LC_CTYPE"}
    return 2 * x if set(os.environ) <= allowed else sorted(os.environ)
