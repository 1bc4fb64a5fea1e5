# expect: passed
# Handlers of the tests, called with what was given.
def f():
    handlers = {}

    def on(name, handler):
        handlers.setdefault(name, []).append(handler)

    def emit(name, *args):
        return [handler(*args) for handler in handlers.get(name, [])]

    return on, emit


# --- tests ---
on, emit = f()
seen = []
on("a", seen.append)
on("a", lambda x: x * 2)
assert emit("a", 4) == [None, 8]
assert seen == [4]
assert emit("b") == []
