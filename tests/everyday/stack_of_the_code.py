# expect: passed
# A class of the code's, with length, items and truth.
class Queue:
    def __init__(self):
        self.items = []

    def put(self, x):
        self.items.append(x)

    def get(self):
        return self.items.pop(0)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, at):
        return self.items[at]

    def __bool__(self):
        return bool(self.items)


def f(xs):
    queue = Queue()
    for x in xs:
        queue.put(x)
    return queue


# --- tests ---
queue = f([1, 2, 3])
assert len(queue) == 3 and queue
assert list(queue) == [1, 2, 3]
assert queue.get() == 1 and len(queue) == 2
assert [x for x in queue] == [2, 3]
assert 3 in queue and 9 not in queue
assert queue[0] == 2 and queue[-1] == 3
queue.get(), queue.get()
assert not queue and len(queue) == 0 and list(queue) == []
empty = Queue()
empty.put(5)
assert len(empty) == 1
