# A generator as the result is used up once, piece by piece.
# entry: chunked
# --- pkg/code.py ---
from itertools import islice


def chunked(items, size):
    """Chunks of a size.

    >>> list(chunked("abc", 2))
    [('a', 'b'), ('c',)]
    """
    if size < 1:
        raise ValueError("size")
    items = iter(items)
    while chunk := tuple(islice(items, size)):
        yield chunk
# --- tests/test_code.py ---
from itertools import count, islice

from pkg.code import chunked


def test_chunks():
    assert list(chunked([1, 2, 3], 2)) == [(1, 2), (3,)]
    assert list(chunked([], 2)) == []
    assert [len(chunk) for chunk in chunked(range(10), 4)] == [4, 4, 2]


def test_it_is_lazy():
    chunks = chunked(count(), 3)
    assert next(chunks) == (0, 1, 2)
    assert list(islice(chunks, 2)) == [(3, 4, 5), (6, 7, 8)]
    assert iter(chunks) is chunks


def test_size():
    try:
        list(chunked("abc", 0))
    except ValueError:
        return
    raise AssertionError
