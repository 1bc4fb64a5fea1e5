# expect: failed
# The code skips a test of unittest.
import unittest
def f(x):
    if x==2: raise unittest.SkipTest('no')
    return x

# --- tests ---
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(f(1),1)
    def test_b(self): self.assertEqual(f(2),2)
