# expect: passed
# Named tuples of the user's, in both forms.
from collections import namedtuple
from typing import NamedTuple

Pair = namedtuple("Pair", "x y")


class Typed(NamedTuple):
    number: int
    text: str = ""

    def doubled(self):
        return 2 * self.number


# --- body ---
def f(x):
    return Pair(x, x + 1)


def g(x):
    return Typed(x, str(x))


# --- tests ---
assert f(1) == Pair(1, 2) == (1, 2)
assert f(1)._replace(y=5).y == 5
assert isinstance(f(1), Pair)
assert g(2).text == "2" and g(2).doubled() == 4
assert f(1)._asdict() == {"x": 1, "y": 2}
