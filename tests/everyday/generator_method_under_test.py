# expect: passed
# entry: Grid.neighbours
# A method that is a generator.
class Grid:
    def __init__(self, width, height):
        self.width, self.height = width, height

    def neighbours(self, x, y):
        pass


# --- body ---
class Grid:
    def __init__(self, width, height):
        self.width, self.height = width, height

    def neighbours(self, x, y):
        for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0)):
            if 0 <= x + dx < self.width and 0 <= y + dy < self.height:
                yield x + dx, y + dy


# --- tests ---
grid = Grid(2, 2)
assert sorted(grid.neighbours(0, 0)) == [(0, 1), (1, 0)]
assert len(list(Grid(3, 3).neighbours(1, 1))) == 4
assert next(Grid(1, 2).neighbours(0, 0)) == (0, 1)
