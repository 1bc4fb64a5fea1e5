# A generator that is gone through with `async for`.
# entry: ticks
# --- pkg/code.py ---
async def ticks(n):
    for i in range(n):
        yield 2 * i
# --- tests/test_code.py ---
import asyncio
import unittest

from pkg.code import ticks


class Ticks(unittest.TestCase):
    def test_all(self):
        async def gone_through():
            return [tick async for tick in ticks(3)]

        self.assertEqual(asyncio.run(gone_through()), [0, 2, 4])
