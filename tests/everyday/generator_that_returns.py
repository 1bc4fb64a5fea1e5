# expect: passed
# A generator with a result, and one that is closed.
def f(log):
    try:
        got = yield 1
        log.append(got)
        yield 2
        return 'done'
    finally:
        log.append('end')


# --- tests ---
log = []
g = f(log)
assert next(g) == 1
assert g.send("x") == 2
try:
    next(g)
    assert False
except StopIteration as stop:
    assert stop.value == "done"
assert log == ["x", "end"]
assert next(g, None) is None
g = f(log)
next(g)
g.close()
assert log[-1] == "end"


def outer():
    return (yield from f([]))


assert list(outer()) == [1, 2]
