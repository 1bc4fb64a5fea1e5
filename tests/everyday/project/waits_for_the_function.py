# A test waits for what the function does, in a thread and in its own.
# entry: Box.put
# --- pkg/code.py ---
import threading


class Box:
    def __init__(self):
        self.is_full = threading.Event()

    def put(self, value):
        self.value = value
        self.is_full.set()

    def take(self):
        self.is_full.wait()
        return self.value
# --- tests/test_code.py ---
import threading
import unittest

from pkg.code import Box


class Boxes(unittest.TestCase):
    def test_of_two_threads(self):
        box = Box()
        threading.Thread(target=box.put, args=(1,), daemon=True).start()
        self.assertEqual(box.take(), 1)

    def test_of_one(self):
        box = Box()
        try:
            box.put(2)
        except RuntimeError:
            pass
        self.assertEqual(box.take(), 2)
