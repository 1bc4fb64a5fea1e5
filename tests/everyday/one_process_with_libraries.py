# expect: passed
# assurance: shared
# Libraries look at frames of their own accord, in a process that the tests share with the code.
import asyncio
import collections
import dataclasses
import enum
import functools
import inspect
import io
import logging
import traceback
import typing
import warnings


class Colour(enum.Enum):
    RED = 1


Pair = collections.namedtuple("Pair", "left right")


class Named(typing.NamedTuple):
    name: str


@dataclasses.dataclass(order=True)
class Item:
    size: int


def frames_of(function):
    @functools.wraps(function)
    def wrapped(*args):
        return function(*args)
    return wrapped


async def later(x):
    await asyncio.sleep(0)
    return x


@frames_of
def f(x):
    log = logging.getLogger("f")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(funcName)s %(message)s"))
    log.addHandler(handler)
    log.warning("about to fail")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
    try:
        raise ValueError("bad")
    except ValueError as error:
        text = traceback.format_exc()
        lines = traceback.format_exception(type(error), error, error.__traceback__)
    assert "ValueError: bad" in text and lines and len(seen) == 1
    inspect.signature(f)
    Named("a"), Item(1) < Item(2), Colour["RED"], eval("1 + 1")
    return Pair(asyncio.run(later(x)), stream.getvalue().strip())


# --- tests ---
from unittest import mock

with mock.patch("time.sleep"):
    assert f(3) == (3, "f about to fail")
    assert f(4).left == 4
