# expect: passed
# A class that the tests make objects of, and combine with numbers.
class Clock:
    def __init__(self, hour, minute):
        self.minutes = (60 * hour + minute) % 1440
    def __add__(self, minutes):
        return Clock(0, self.minutes + minutes)
    def __sub__(self, minutes):
        return self + -minutes
    def __rmul__(self, factor):
        return Clock(0, self.minutes * factor)
    def __pow__(self, exponent):
        return float(self.minutes) ** exponent
    def __eq__(self, other):
        return self.minutes == other.minutes
    def __str__(self):
        return "%02d:%02d" % divmod(self.minutes, 60)
def f(): return Clock(1, 2)

# --- tests ---
import unittest
class ClockTest(unittest.TestCase):
    def test_it(self):
        self.assertEqual(str(Clock(10, 0) + 3), "10:03")
        self.assertEqual(str(Clock(0, 3) - 4 + 1), "00:00")
        self.assertEqual(str(3 * Clock(1, 20)), "04:00")
        self.assertEqual(Clock(0, 5) ** 2, 25.0)
        self.assertEqual(Clock(2, 0), Clock(1, 59) + 1)
