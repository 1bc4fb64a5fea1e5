# Returns a coroutine, which the tests pass on: no way into one process.
def f(x):
    async def later():
        return 6
    return later()


# --- tests ---
assert f(f(3)) == 6
