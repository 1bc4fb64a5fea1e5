# expect: passed
# A plain function that gives a coroutine.
def f(x):
    async def later():
        return x + 1
    return later()


# --- tests ---
import asyncio

assert asyncio.run(f(1)) == 2


async def main():
    return await f(2) + await f(3)


assert asyncio.run(main()) == 7
