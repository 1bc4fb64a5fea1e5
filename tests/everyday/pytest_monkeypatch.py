# expect: passed
# assurance: shared
# The environment and functions are patched for a test.
import os
import time


def f():
    return os.environ.get('LEVEL', 'none') + str(time.time())


# --- tests ---
import time


def test_patched(monkeypatch):
    monkeypatch.setenv("LEVEL", "high")
    monkeypatch.setattr(time, "time", lambda: 7)
    assert f() == "high7"


def test_patched_by_name(monkeypatch):
    monkeypatch.delenv("LEVEL", raising=False)
    monkeypatch.setattr("time.time", lambda: 8)
    assert f() == "none8"
