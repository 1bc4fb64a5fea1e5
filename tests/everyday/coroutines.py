# expect: passed
# Coroutines, async generators and context managers are awaited where they live.
import asyncio
async def f(x):
    await asyncio.sleep(0)
    return x*2
class A:
    async def go(self): return 1
    async def __aenter__(self): return self
    async def __aexit__(self,*e): return None
async def agen():
    yield 1
    yield 2

# --- tests ---
import asyncio
assert asyncio.run(f(2))==4
async def test_a():
    assert await f(3)==6
    assert await A().go()==1
    async with A() as a:
        assert await a.go()==1
    assert [x async for x in agen()]==[1,2]
    r=await asyncio.gather(f(1),f(2))
    assert r==[2,4]
