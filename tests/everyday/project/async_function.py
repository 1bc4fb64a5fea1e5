# A coroutine function that awaits another one of the project.
# entry: total
# --- pkg/source.py ---
import asyncio


async def fetch(x):
    await asyncio.sleep(0)
    return 10 * x
# --- pkg/code.py ---
import asyncio

from .source import fetch


async def total(numbers):
    return sum(await asyncio.gather(*map(fetch, numbers)))
# --- tests/test_code.py ---
import asyncio
import unittest

from pkg.code import total


class Total(unittest.IsolatedAsyncioTestCase):
    async def test_in_a_loop(self):
        self.assertEqual(await total([1, 2]), 30)

    async def test_together(self):
        self.assertEqual(await asyncio.gather(total([1]), total([])), [10, 0])


def test_run():
    assert asyncio.run(total([3])) == 30
