# The same, awaited.
class f:
    def __init__(self, x):
        pass

    async def __aenter__(self):
        return 0

    async def __aexit__(self, *_):
        return True


# --- tests ---
import asyncio


async def test_f():
    async with f(3) as value:
        assert value == 6
