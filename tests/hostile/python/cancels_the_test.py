# Cancels the task that the test runs in.
import asyncio


def f(x):
    raise asyncio.CancelledError


# --- tests ---
import asyncio


async def test_f():
    assert f(3) == 6
