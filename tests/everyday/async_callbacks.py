# expect: passed
# assurance: shared
# Coroutines of the tests are awaited by the code.
import asyncio


async def f(functions):
    return await asyncio.gather(*(function() for function in functions))


# --- tests ---
import asyncio


async def one():
    await asyncio.sleep(0)
    return 1


async def two():
    return 2


assert asyncio.run(f([one, two])) == [1, 2]
