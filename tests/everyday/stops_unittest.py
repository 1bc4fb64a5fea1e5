# expect: failed
# The code raises what makes unittest stop quietly.
import unittest.case
def f(x):
    if x==2: raise unittest.case._ShouldStop()
    return x

# --- tests ---
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(f(1),1)
    def test_b(self): self.assertEqual(f(2),2)
