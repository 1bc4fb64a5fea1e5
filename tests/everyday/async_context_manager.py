# expect: passed
# A context manager that is awaited.
import contextlib


@contextlib.asynccontextmanager
async def f(log):
    log.append('open')
    try:
        yield len(log)
    finally:
        log.append('close')


# --- tests ---
import asyncio


async def main():
    log = []
    async with f(log) as n:
        assert n == 1
        assert log == ["open"]
    return log


assert asyncio.run(main()) == ["open", "close"]
