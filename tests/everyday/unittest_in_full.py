# expect: passed
# What unittest offers.
def f(xs):
    if not xs:
        raise ValueError('empty list')
    return {'min': min(xs), 'max': max(xs), 'mean': sum(xs) / len(xs)}


# --- tests ---
import unittest


class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = f([1, 2, 4])

    def setUp(self):
        self.xs = [1, 2, 3]

    def test_values(self):
        self.assertEqual(f(self.xs)["min"], 1)
        self.assertAlmostEqual(f([1, 2])["mean"], 1.5)
        self.assertIn("max", f(self.xs))
        self.assertDictEqual(f([1]), {"min": 1, "max": 1, "mean": 1.0})
        self.assertIsInstance(f(self.xs), dict)
        self.assertGreater(f(self.xs)["max"], 2)

    def test_class(self):
        self.assertEqual(self.result["max"], 4)

    def test_raises(self):
        with self.assertRaises(ValueError):
            f([])
        with self.assertRaisesRegex(ValueError, "empty"):
            f([])
        self.assertRaises(ValueError, f, [])

    def test_parts(self):
        for n in range(1, 4):
            with self.subTest(n=n):
                self.assertEqual(f([n])["max"], n)

    @unittest.skip("later")
    def test_skipped(self):
        self.assertEqual(f([1]), None)

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(f([1]), None)


if __name__ == "__main__":
    unittest.main()
