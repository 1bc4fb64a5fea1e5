# What cannot travel is seen before the candidate runs, or as soon as it is passed.
# assurance: shared
# entry: guarded
# --- pkg/code.py ---
def guarded(lock, value):
    if lock is None:
        return value
    with lock:
        return value + 1
# --- tests/test_code.py ---
from _thread import allocate_lock

from pkg.code import guarded


def test_guarded():
    assert guarded(None, 1) == 1
    assert guarded(allocate_lock(), 1) == 2
