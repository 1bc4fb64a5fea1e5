# A path inside of the code's copy of the project is that of the tests' copy.
# entry: data_file
# --- pkg/data/words.txt ---
one two
# --- pkg/code.py ---
from pathlib import Path


def data_file(name):
    path = Path(__file__).resolve().parent / "data" / name
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    return path
# --- tests/test_code.py ---
import os
import unittest

import pkg.code
from pkg.code import data_file


class Data(unittest.TestCase):
    def test_path(self):
        found = data_file("words.txt")
        self.assertEqual(found.read_text(), "one two\n")
        self.assertEqual(found, (type(found)(pkg.code.__file__).resolve().parent / "data/words.txt"))

    def test_none(self):
        with self.assertRaises(FileNotFoundError) as caught:
            data_file("nothing")
        self.assertIn(os.path.join("data", "nothing"), str(caught.exception))
