# Files in memory go over and come back as they were left.
# entry: copy_lines
# --- pkg/code.py ---
def copy_lines(source, target, count):
    for _ in range(count):
        target.write(source.readline())
# --- tests/test_code.py ---
import io
import unittest

from pkg.code import copy_lines


class Lines(unittest.TestCase):
    def test_text(self):
        source, target = io.StringIO("a\nb\nc\n"), io.StringIO()
        copy_lines(source, target, 2)
        self.assertEqual(target.getvalue(), "a\nb\n")
        self.assertEqual(source.read(), "c\n")

    def test_bytes(self):
        target = io.BytesIO(b"xxxx")
        copy_lines(io.BytesIO(b"a\nb\n"), target, 1)
        self.assertEqual(target.getvalue(), b"a\nxx")
