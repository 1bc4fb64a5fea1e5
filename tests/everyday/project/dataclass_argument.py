# Objects of a class of the project go in and come out.
# entry: moved
# --- pkg/shapes.py ---
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclass
class Path:
    points: list = field(default_factory=list)
    name: str = ""
# --- pkg/code.py ---
from dataclasses import replace

from .shapes import Path, Point


def moved(path, by):
    return replace(path, points=[Point(p.x + by.x, p.y + by.y) for p in path.points])
# --- tests/test_code.py ---
import unittest
from dataclasses import asdict

from pkg.code import moved
from pkg.shapes import Path, Point


class Moved(unittest.TestCase):
    def setUp(self):
        self.path = Path([Point(1, 2), Point(3)], "a")

    def test_moves(self):
        result = moved(self.path, Point(1, 1))
        self.assertIsInstance(result, Path)
        self.assertEqual(result, Path([Point(2, 3), Point(4, 1)], "a"))
        self.assertEqual(hash(result.points[0]), hash(Point(2, 3)))

    def test_leaves_the_path_alone(self):
        moved(self.path, Point(5, 5))
        self.assertEqual(asdict(self.path), {"points": [{"x": 1, "y": 2}, {"x": 3, "y": 0}], "name": "a"})
