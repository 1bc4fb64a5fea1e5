# expect: passed
# Coroutines under unittest.
async def f(x):
    return x + 1


# --- tests ---
import unittest


class T(unittest.IsolatedAsyncioTestCase):
    async def test_f(self):
        self.assertEqual(await f(1), 2)
