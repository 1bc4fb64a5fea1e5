# Raises what ends `async for`.
def f(x):
    raise StopAsyncIteration


# --- tests ---
import asyncio


class Rows:
    def __init__(self):
        self.left = [3, 4]

    def __aiter__(self):
        return self

    async def __anext__(self):
        return f(self.left.pop())


async def test_rows():
    async for value in Rows():
        assert value in (6, 8)
