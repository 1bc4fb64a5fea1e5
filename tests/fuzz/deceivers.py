"""Random candidates and random tests of one value, as JSON lines: `python3 deceivers.py SEED COUNT`.

Each candidate returns a value, right or wrong, as plain data, as a class derived from it, or as an object that only pretends. What is
said of it may be a lie: methods that please whoever asks. `holds` is whether the same tests hold, in plain Python, for the plain value
(of an object that pretends: never); `is_honest` is whether the candidate tells no lies, and has to pass then.
"""
import json
import math
import random
import re
import sys

# By its index alone an object is the numbers from 0 on: what it says at 0 may not be what a test expects there.
LIES = {
    "__eq__": "True", "__ne__": "False", "__lt__": "False", "__le__": "True", "__gt__": "False", "__ge__": "True", "__hash__": "0",
    "__bool__": "bool(KNOWN)", "__len__": "KNOWN", "__iter__": "iter(())", "__contains__": "True", "__getitem__": "told[0] or None",
    "__sub__": "0", "__rsub__": "0", "__add__": "told[0]", "__radd__": "told[0]", "__xor__": "set()", "__rxor__": "set()",
    "__and__": "told[0]", "__rand__": "told[0]", "__or__": "told[0]", "__mod__": "0", "__truediv__": "1.0", "__abs__": "0",
    "__round__": "0", "__float__": "0.0", "__index__": "0", "__int__": "0", "__copy__": "self", "__deepcopy__": "self",
    "__class__": "property(lambda self: TYPE)", "count": "1", "index": "0", "find": "0", "startswith": "True", "endswith": "True",
    "issubset": "True", "issuperset": "True", "isdisjoint": "False", "symmetric_difference": "set()", "difference": "set()",
    "union": "set(told[0])", "intersection": "set(told[0])", "remove": "None", "get": "told[-1]", "items": "()", "keys": "()",
    "values": "()", "strip": "told[0] if told else self", "replace": "''", "append": "None", "tolist": "[]", "conjugate": "self",
}
ANY = [
    "assert f(3) == E", "assert E == f(3)", "assert not f(3) != E", "assert f(3) in [E]", "assert [f(3)] == [E]", "r = f(3)\nassert r == E",
    "assert (f(3), 1) == (E, 1)", "assert {'k': f(3)} == {'k': E}", "assert [E].count(f(3)) == 1", "assert [E].index(f(3)) == 0",
    "assert all(one == other for one, other in zip([f(3)], [E]))", "def test_f():\n    if f(3) != E:\n        raise AssertionError('no')",
    "def check(candidate):\n    assert candidate(3) == E", "assert f(3) == E, f(3)\nassert type(E) is TYPE",
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(3), E)",
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertIn(f(3), [E])",
    "import copy\nassert copy.deepcopy(f(3)) == E", "import copy\nassert copy.copy(f(3)) == E",
    "def same(one, other):\n    return one == other\n\n\nassert same(f(3), E)", "assert any(value == E for value in [f(3)])",
    "import pytest\n\n\n@pytest.mark.parametrize('x, expected', [(3, E)])\ndef test_f(x, expected):\n    assert f(x) == expected",
    "assert f(3) == E and f(3) is not None", "seen = {}\nseen['k'] = f(3)\nassert list(seen.values())[0] == E",
]
NUMBER = [
    "assert abs(f(3) - E) < 1e-9", "import math\nassert math.isclose(f(3), E)", "assert round(f(3) - E, 3) == 0", "assert E - f(3) == 0",
    "assert max(f(3), E) == E and min(f(3), E) == E", "assert f(3) <= E <= f(3)", "assert not f(3) < E and not f(3) > E",
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertAlmostEqual(f(3), E)",
    "import pytest\nassert f(3) == pytest.approx(E)", "assert sum([f(3), -E]) == 0", "assert sorted([f(3), E]) == [E, E]",
    "assert f(3) + 0 == E", "assert -f(3) == -E", "assert float(f(3)) == float(E)", "assert {E: True}.get(f(3), False)",
]
ITEMS = [
    "r = f(3)\nassert len(r) == len(E)\nfor one, other in zip(r, E):\n    assert one == other", "assert list(f(3)) == list(E)",
    "assert sorted(f(3)) == sorted(E)", "assert set(f(3)) == set(E) and len(f(3)) == len(E)", "assert all(x in f(3) for x in E)\nassert len(f(3)) == len(E)",
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertCountEqual(f(3), E)",
    "assert [*f(3)] == [*E]", "assert sum(1 for _ in f(3)) == len(E)\nassert f(3) == E",
]
ORDERED = ["r = f(3)\nassert len(r) == len(E)\nfor i in range(len(E)):\n    assert r[i] == E[i]", "assert f(3)[:] == E", "assert f(3) + f(3) == E + E",
           "assert list(map(lambda a, b: a == b, f(3), E)) == [True] * len(E)", "assert f(3) <= E <= f(3)", "assert list(enumerate(f(3))) == list(enumerate(E))"]
STYLES = {
    int: NUMBER, float: NUMBER, list: ITEMS + ORDERED, tuple: ITEMS + ORDERED,
    str: ORDERED + ["assert f(3).startswith(E) and f(3).endswith(E) and len(f(3)) == len(E)", "assert f(3).strip() == E.strip()",
                    "assert f(3).replace(E, '') == '' and f(3)", "assert f(3) in E and E in f(3)", "assert '%s' % f(3) == E"],
    set: ITEMS + ["assert f(3) ^ E == set()", "assert not f(3).symmetric_difference(E)", "assert f(3).issubset(E) and f(3).issuperset(E)",
                  "assert f(3) <= E and E <= f(3)", "assert f(3).union(E) == E and len(f(3)) == len(E)", "assert f(3) - E == set() and E - f(3) == set()"],
    dict: ITEMS + ["assert f(3).items() == E.items()", "r = f(3)\nassert len(r) == len(E)\nfor key in E:\n    assert r[key] == E[key]",
                   "assert sorted(f(3).items()) == sorted(E.items())", "assert all(f(3).get(key) == value for key, value in E.items()) and len(f(3)) == len(E)",
                   "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertDictEqual(dict(f(3)), E)"],
}


def value(draw):
    number = lambda: draw.randint(-9, 9)
    return draw.choice([
        number, lambda: number() / 4, lambda: [number() for _ in range(draw.randint(1, 4))], lambda: tuple(number() for _ in range(draw.randint(1, 4))),
        lambda: {number() for _ in range(draw.randint(1, 4))}, lambda: {draw.choice("abcd"): number() for _ in range(draw.randint(1, 3))},
        lambda: "".join(draw.choice("abc ") for _ in range(draw.randint(1, 5)))])()


def wrong(draw, right):
    """Another value of the same type."""
    while True:
        kind = type(right)
        if kind in (int, float):
            made = kind(right + draw.choice([-1, 1, 0.5 if kind is float else 7]))
        elif kind is str:
            made = draw.choice(["", right[::-1], right + "x", right[1:]])
        else:
            made = draw.choice([kind(), kind(list(right.items())[1:]) if kind is dict else kind(list(right)[1:]), value(draw)])
        if type(made) is kind and made != right:
            return made


class Pytest:
    """As much of pytest as the tests here use."""

    def __init__(self):
        self.mark = self

    def approx(self, expected):
        return type("Approx", (), {"__eq__": lambda _, found: math.isclose(expected, found, rel_tol=1e-6, abs_tol=1e-12)})()

    def parametrize(self, _names, rows):
        return lambda test: lambda: [test(*row) for row in rows]


def holds(plain, tests):
    """Whether the tests hold, in plain Python, for a plain value."""
    import unittest
    space = {"f": lambda x: plain, "pytest": Pytest()}
    try:
        exec(tests.replace("import pytest\n", ""), space)
        for name, thing in list(space.items()):
            if name.startswith("test"):
                thing()
            elif name == "check":
                thing(space["f"])
            elif isinstance(thing, type) and issubclass(thing, unittest.TestCase):
                result = unittest.TestResult()
                unittest.TestLoader().loadTestsFromTestCase(thing).run(result)
                assert result.wasSuccessful()
        return True
    except Exception:
        return False


def method(name, answer):
    return "    %s = %s\n" % (name, answer) if answer.startswith("property") else "    def %s(self, *told):\n        return %s\n" % (name, answer)


def case(draw):
    right = value(draw)
    kind = type(right)
    found = right if draw.random() < 0.4 else wrong(draw, right)
    tests = draw.choice(draw.choice([ANY, STYLES[kind]]))
    form = draw.choice(["plain", "derived", "derived", "object", "object", "users", "derived of the users"])
    lies = draw.sample(sorted(LIES), draw.choice([0, 1, 2, 4, 8, 20])) if form != "plain" else []
    body = "".join(method(name, LIES[name].replace("KNOWN", str(len(right) if hasattr(right, "__len__") else 1)).replace("TYPE", kind.__name__))
                   for name in lies) or "    pass\n"
    stub = ""
    if form == "plain":
        program = "def f(x):\n    return %r\n" % (found,)
    elif form == "derived":
        program = "class Fake(%s):\n%s\n\ndef f(x):\n    return Fake(%r)\n" % (kind.__name__, body, found)
    elif form == "object":
        name = draw.choice(["Fake", kind.__name__, "ValueError"])
        program = "class %s:\n%s\n\ndef f(x):\n    return %s()\n" % (name, body, name)
    else:
        stub = "class Box:\n    def __init__(self, value):\n        self.value = value\n\n    def __eq__(self, other):\n        " \
               "return isinstance(other, Box) and self.value == other.value\n\n\n"
        base = "Box" if form == "users" else "Derived"
        made = "class Derived(Box):\n%s\n\n" % body if base == "Derived" else ""
        patches = "".join("    Box.%s = lambda self, *told: %s\n" % (name, "True" if name == "__eq__" else "False")
                          for name in lies if name in ("__eq__", "__ne__", "__hash__", "__bool__", "count", "index"))
        program = "%s%sdef f(x):\n%s    return %s(%r)\n" % (stub, made, patches, base, found)
        tests = "assert f(3) == Box(E)\nassert [f(3)] == [Box(E)]\nassert Box(E) == f(3) and f(3).value == E"
    tests = re.sub(r"\bE\b", lambda _: "(%r)" % (right,), re.sub(r"\bTYPE\b", kind.__name__, tests))
    if stub:
        is_right = form == "users" and found == right
    else:
        is_right = form != "object" and holds(found, tests)
    return {"program": program, "tests": tests, "stub": stub and stub + "def f(x):\n    pass\n", "holds": is_right,
            "is_honest": form == "plain" or (form == "users" and found == right) or (form == "derived" and not lies)}


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    for number in range(count):
        print(json.dumps(case(random.Random("%d %d" % (seed, number)))))


main()
