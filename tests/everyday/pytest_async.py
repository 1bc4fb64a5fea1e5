# expect: passed
# Coroutines under pytest's mark.
import asyncio


async def f(x):
    await asyncio.sleep(0)
    if x < 0:
        raise ValueError('negative')
    return x * 2


# --- tests ---
import pytest


@pytest.mark.asyncio
async def test_doubles():
    assert await f(2) == 4


@pytest.mark.asyncio
async def test_refuses():
    with pytest.raises(ValueError):
        await f(-1)
