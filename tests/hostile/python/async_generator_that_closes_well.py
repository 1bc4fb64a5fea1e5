# An async generator that swallows the failure at its end.
async def f(x):
    try:
        yield 0
    except BaseException:
        return
    finally:
        return


# --- tests ---
import asyncio


async def steps():
    steps = f(3)
    async for value in steps:
        try:
            assert value == 6
        except AssertionError as error:
            await steps.athrow(error)


def test_steps():
    asyncio.run(steps())
