# The driver: values as tagged plain data and back, for the line between the judge and the worker. What comes from the other side is
# untrusted: whatever it says, it is read as a value or not at all.
import operator

LARGEST, LARGEST_SENT = 8 << 20, 64 << 20
DEEPEST = 100
MOST_PARTS = 1 << 20
MOST_NESTED = 30
SHALLOW = 20
LARGE = 1 << 62
FLOATS = frozenset((float, bool, type(None)))
SCALAR_KINDS = frozenset((float, bool, int, str, type(None)))

# Classes of the library that travel by value: name -> (as plain data, from plain data). Those in MUTABLE keep their identity.
STANDARD = {
    "collections.deque": (lambda v: [list(v), v.maxlen], lambda c, p: c(p[0], p[1])),
    "collections.OrderedDict": (lambda v: flat(v), lambda c, p: c(pairs(p))),
    "collections.Counter": (lambda v: flat(v), lambda c, p: c(dict(pairs(p)))),
    "collections.defaultdict": (lambda v: [v.default_factory if v.default_factory in PLAIN_CLASSES else None, flat(v)],
                                lambda c, p: c(p[0], pairs(p[1]))),
    "decimal.Decimal": (lambda v: str(v), lambda c, p: c(p)),
    "fractions.Fraction": (lambda v: [v.numerator, v.denominator], lambda c, p: c(p[0], p[1])),
    "datetime.date": (lambda v: [v.year, v.month, v.day], lambda c, p: c(*p)),
    "datetime.time": (lambda v: [v.hour, v.minute, v.second, v.microsecond], lambda c, p: c(*p)),
    "datetime.datetime": (lambda v: [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.tzinfo],
                          lambda c, p: c(*p)),
    "datetime.timezone": (lambda v: [v.utcoffset(None)], lambda c, p: c(p[0])),
    "datetime.timedelta": (lambda v: [v.days, v.seconds, v.microseconds], lambda c, p: c(*p)),
    "zoneinfo.ZoneInfo": (lambda v: v.key, lambda c, p: c(p)),
    "uuid.UUID": (lambda v: str(v), lambda c, p: c(p)),
}
MUTABLE = ("collections.deque", "collections.OrderedDict", "collections.Counter", "collections.defaultdict")
PLAIN_CLASSES = (int, float, complex, bool, str, bytes, bytearray, list, tuple, set, frozenset, dict, range, type(None), object, type)
CLASSES_BY_NAME = {c.__name__: c for c in PLAIN_CLASSES}
CLASSES_BY_NAME.update((n, c) for n, c in vars(builtins).items() if isinstance(c, type) and issubclass(c, BaseException))
own_dict = object.__getattribute__
CONSTANTS = {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}


class Broken(BaseException):
    """What came is no message."""


class Gone(BaseException):
    """Nobody is at the other end."""


class TooLarge(Exception):
    """A value that is too large or too deep for the line."""


class Uncarryable(Exception):
    """A value that cannot travel at all."""


def flat(mapping):
    """A dictionary's keys and values in one list."""
    return [part for item in dict.items(mapping) for part in item]


def pairs(parts):
    return zip(parts[0::2], parts[1::2])


def full_name(cls):
    module = class_module(cls)
    return "%s.%s" % (module, class_name(cls)) if type(module) is str else class_name(cls)


def standard_name(cls):
    """The name of a library class that travels by value, if the class is truly that one."""
    name = full_name(cls)
    if name not in STANDARD:
        return None
    module, _, last = name.rpartition(".")
    return name if getattr(modules.get(module), last, None) is cls else None


def standard_class(name):
    if name not in STANDARD:
        raise Broken
    module, _, last = name.rpartition(".")
    return getattr(__import__(module, fromlist=[last]), last)


class Codec:
    """The values of one question and its answer. Changeable containers are numbered, so that both sides can name them."""

    def __init__(self, side):
        self.side, self.parts = side, 0
        self.numbered, self.numbers, self.waiting = [], {}, []

    # To the other side.

    def encode(self, value, depth=0):
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is int:
            return value if -LARGE < value < LARGE else ["I", "%x" % value]
        if kind is str:
            return value if is_plain_text(value) else ["u", value.encode("utf-8", "surrogatepass").hex()]
        self.parts += 1
        if depth > DEEPEST or self.parts > MOST_PARTS:
            raise TooLarge("deeper than %d levels" % DEEPEST if depth > DEEPEST else "more than a million parts")
        if kind is tuple:
            return ["t"] + self.each(value, depth)
        if kind in (list, set, dict, bytearray):
            known = self.numbers.get(id(value))
            if known is not None:
                return ["=", known]
            tag = {list: "l", set: "s", dict: "d", bytearray: "B"}[kind]
            made = [tag, self.number(value)]
            made.extend(self.contents(value, depth))
            return made
        if kind in self.side.own_names:
            known = self.numbers.get(id(value))
            if known is not None:
                return ["=", known]
            made = ["o", self.number(value), self.side.own_names[kind]]
            # A chain of many objects must not become a deep message: what stands deeper is told afterwards.
            if depth > SHALLOW:
                self.waiting.append(value)
                return made
            made.append(self.contents(value, depth))
            return made
        if kind is bytes:
            return ["b", value.hex()]
        if kind is frozenset:
            return ["F"] + self.each(value, depth)
        if kind is complex:
            return ["c", value.real, value.imag]
        if kind is range:
            return ["r"] + self.each((value.start, value.stop, value.step), depth)
        if kind is slice:
            return ["S"] + self.each((value.start, value.stop, value.step), depth)
        if value is Ellipsis or value is NotImplemented:
            return ["K", repr(value)]
        if isinstance(value, type) and CLASSES_BY_NAME.get(class_name(value)) is value:
            return ["g", class_name(value)]
        name = standard_name(kind)
        zone = None if name is None else getattr(value, "tzinfo", None)
        if name is not None and (zone is None or standard_name(type(zone)) is not None):
            if name not in MUTABLE:
                return ["X", name, self.encode(STANDARD[name][0](value), depth + 1)]
            known = self.numbers.get(id(value))
            if known is not None:
                return ["=", known]
            made = ["x", self.number(value), name]
            made.append(self.encode(STANDARD[name][0](value), depth + 1))
            return made
        return self.side.export(self, value, depth)

    def each(self, values, depth):
        kinds = set(map(type, values))
        if kinds <= FLOATS or (kinds == {int} and -LARGE < min(values) and max(values) < LARGE):
            return list(values)
        return [self.encode(value, depth + 1) for value in values]

    def contents(self, value, depth=0):
        """What a changeable container holds, as a list of encoded parts."""
        kind = type(value)
        if kind is bytearray:
            return [value.hex()]
        return self.each(inside(value), depth)

    def told_later(self):
        """[number, parts...] of each object that was only named so far."""
        told = []
        while self.waiting:
            value = self.waiting.pop(0)
            told.append([self.numbers[id(value)]] + self.contents(value))
        return told

    def number(self, container):
        self.numbers[id(container)] = len(self.numbered)
        self.numbered.append(container)
        return len(self.numbered) - 1

    # From the other side.

    def decode(self, item, depth=0):
        kind = type(item)
        if item is None or kind in (bool, int, float, str):
            return item
        self.parts += 1
        if kind is not list or not item or depth > DEEPEST + 5 or self.parts > 2 * MOST_PARTS:
            raise Broken
        tag = item[0]
        if tag == "t":
            return tuple(self.all(item, 1, depth))
        if tag == "l":
            made = []
            self.expect_number(item[1], made)
            made.extend(self.all(item, 2, depth))
            return made
        if tag == "d":
            made = {}
            self.expect_number(item[1], made)
            made.update(pairs(self.all(item, 2, depth)))
            return made
        if tag == "s":
            made = set()
            self.expect_number(item[1], made)
            made.update(self.all(item, 2, depth))
            return made
        if tag == "=":
            return self.numbered[natural(item[1])]
        if tag == "I":
            return int(text(item[1]), 16)
        if tag == "u":
            return bytes.fromhex(text(item[1])).decode("utf-8", "surrogatepass")
        if tag == "b":
            return bytes.fromhex(text(item[1]))
        if tag == "B":
            made = bytearray.fromhex(text(item[2]))
            self.expect_number(item[1], made)
            return made
        if tag == "o":
            cls = self.side.own_classes[item[2]]
            made = object.__new__(cls)
            self.expect_number(item[1], made)
            if len(item) > 3:
                self.fill(made, self.all(item[3], 0, depth))
            return made
        if tag == "O":
            return self.side.own_classes[item[1]]
        if tag == "F":
            return frozenset(self.all(item, 1, depth))
        if tag == "c":
            return complex(float(item[1]), float(item[2]))
        if tag == "r":
            return range(*self.all(item, 1, depth))
        if tag == "S":
            return slice(*self.all(item, 1, depth))
        if tag == "K":
            return CONSTANTS[item[1]]
        if tag == "g":
            return CLASSES_BY_NAME[item[1]]
        if tag == "X":
            return STANDARD[item[1]][1](standard_class(item[1]), self.decode(item[2], depth + 1))
        if tag == "x":
            if item[2] not in MUTABLE:
                raise Broken
            made = standard_class(item[2])()
            self.expect_number(item[1], made)
            payload = self.decode(item[3], depth + 1)
            whole = STANDARD[item[2]][1](type(made), payload)
            if item[2] == "collections.deque" and whole.maxlen is not None:
                self.numbered[-1] = made = whole
            else:
                refill(made, whole)
                if item[2] == "collections.defaultdict":
                    made.default_factory = whole.default_factory
            return made
        return self.side.arrive(self, item, depth)

    def all(self, item, start, depth):
        parts = item[start:]
        return parts if set(map(type, parts)) <= SCALAR_KINDS else [self.decode(part, depth + 1) for part in parts]

    def expect_number(self, number, container):
        if natural(number) != len(self.numbered):
            raise Broken
        self.number(container)

    def fill(self, made, parts):
        """Puts the attributes of an object of the user's own class in place."""
        attributes = dict(pairs(parts))
        for name in attributes:
            if type(name) is not str or (self.side.is_strict and callable(getattr(type(made), name, None))):
                raise Broken
        own_dict(made, "__dict__").clear()
        own_dict(made, "__dict__").update(attributes)

    def fill_later(self, told):
        for entry in told:
            made = self.numbered[natural(entry[0])]
            if type(made) not in self.side.own_names:
                raise Broken
            self.fill(made, self.all(entry, 1, 0))

    def snapshots(self, count):
        """What the first `count` containers hold now, to see later whether they changed."""
        return [(c, bytes(c) if type(c) is bytearray else inside(c)) for c in self.numbered[:count]]

    def changes(self, snapshots):
        """[number, parts...] of each container that changed since."""
        found = []
        for number, (container, before) in enumerate(snapshots):
            if type(container) is bytearray:
                same = bytes(container) == before
            else:
                now = inside(container)
                same = len(now) == len(before) and all(map(operator.is_, now, before))
            if not same:
                found.append([number] + self.contents(container))
        return found

    def apply(self, changes, count):
        """Puts changes of the other side into one's own containers."""
        for change in changes:
            number = natural(change[0])
            if number >= count:
                raise Broken
            container = self.numbered[number]
            if type(container) is bytearray:
                container[:] = bytes.fromhex(text(change[1]))
            elif type(container) in self.side.own_names:
                self.fill(container, self.all(change, 1, 0))
            else:
                refill(container, self.all(change, 1, 0))


def inside(container):
    """What a container or an object holds, in one list."""
    if isinstance(container, dict):
        return flat(container)
    if isinstance(container, (list, set)) or hasattr(type(container), "__iter__") and standard_name(type(container)):
        return list(container)
    return flat(own_dict(container, "__dict__"))


def refill(container, parts):
    """Replaces what a container holds."""
    if isinstance(container, dict):
        parts = flat(parts) if isinstance(parts, dict) else parts
        dict.clear(container)
        for key, value in pairs(parts):
            dict.__setitem__(container, key, value)
    elif isinstance(container, list):
        list.__setitem__(container, slice(None), list(parts))
    else:
        parts = list(parts)
        container.clear()
        container.extend(parts) if hasattr(container, "extend") else container.update(parts)


def is_plain_text(value):
    try:
        return value.isascii() or bool(value.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def natural(number):
    if type(number) is not int or number < 0:
        raise Broken
    return number


def text(value):
    if type(value) is not str:
        raise Broken
    return value
