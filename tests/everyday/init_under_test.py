# expect: passed
# entry: Matrix.__init__
# The method that makes an object.
class Matrix:
    def __init__(self, rows):
        pass

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in zip(*other.rows)] for row in self.rows])

    def __eq__(self, other):
        return self.rows == other.rows


# --- body ---
class Matrix:
    def __init__(self, rows):
        if len({len(row) for row in rows}) > 1:
            raise ValueError("ragged")
        self.rows = [list(row) for row in rows]

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in zip(*other.rows)] for row in self.rows])

    def __eq__(self, other):
        return self.rows == other.rows


# --- tests ---
import unittest


class T(unittest.TestCase):
    def test_product(self):
        self.assertEqual(Matrix([[1, 2], [3, 4]]) @ Matrix([[0, 1], [1, 0]]), Matrix([[2, 1], [4, 3]]))

    def test_ragged(self):
        with self.assertRaises(ValueError):
            Matrix([[1], [2, 3]])
