# expect: passed
# Errors of the code: own classes, attributes, messages.
class MyErr(ValueError):
    def __init__(self,m,code):
        super().__init__(m)
        self.code=code
def f(x):
    if x: raise MyErr('bad',7)
    raise KeyError('k')

# --- tests ---
import unittest
class T(unittest.TestCase):
    def test(self):
        with self.assertRaises(MyErr) as c:
            f(1)
        self.assertEqual(c.exception.code,7)
        self.assertEqual(str(c.exception),'bad')
        with self.assertRaises(ValueError):
            f(1)
        with self.assertRaises(KeyError):
            f(0)
        with self.assertRaisesRegex(ValueError,'b.d'):
            f(1)
