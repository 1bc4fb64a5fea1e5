# expect: passed
# Something is set back although a check inside fails as expected.
import contextlib


@contextlib.contextmanager
def f(settings, **changes):
    before = dict(settings)
    settings.update(changes)
    try:
        yield settings
    finally:
        settings.clear()
        settings.update(before)


# --- tests ---
settings = {"a": 1}
with f(settings, a=2) as now:
    assert settings["a"] == 2 and now["a"] == 2
assert settings == {"a": 1}
try:
    with f(settings, a=3):
        raise RuntimeError("stop")
except RuntimeError as error:
    assert str(error) == "stop"
assert settings == {"a": 1}
