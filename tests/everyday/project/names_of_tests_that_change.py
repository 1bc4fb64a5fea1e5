# A test that is called otherwise in each run, as one of pytest's is whose parameter is the time.
# entry: double
# --- pkg/code.py ---
def double(x):
    return 2 * x
# --- tests/test_code.py ---
import time
import unittest

from pkg.code import double


class Double(unittest.TestCase):
    def test_usual(self):
        self.assertEqual(double(3), 6)


def of_now(self):
    self.assertEqual(double(4), 8)


setattr(Double, "test_%d" % time.time_ns(), of_now)
