# The driver: values as tagged plain data and back, for the line between the judge and the worker. What comes
# from the other side is untrusted: whatever it says, it is read as a value or not at all.
#
# A value is read by the slots of its base type, never by methods of its own, and is made anew on the other
# side from types which that side owns. Objects of the user's own classes (`own_classes`) keep their identity
# for the whole trial.
import operator

LARGEST, LARGEST_SENT = 8 << 20, 64 << 20
DEEPEST = 100
MOST_PARTS = 1 << 20
MOST_NESTED = 30
SHALLOW = 20
MOST_SHARED, MOST_CONTAINERS, FEWER = 2000, 64, 12
LARGE = 1 << 62
FLOATS = frozenset((float, bool, type(None)))
SCALAR_KINDS = frozenset((float, bool, int, str, type(None)))

# Classes of the library that travel by value: name -> (as plain data, from plain data). Those in MUTABLE keep
# their identity.
STANDARD = {
    "collections.deque": (lambda v: [list(v), v.maxlen], lambda c, p: c(p[0], p[1])),
    "collections.OrderedDict": (lambda v: flat(v), lambda c, p: c(pairs(p))),
    "collections.Counter": (lambda v: flat(v), lambda c, p: c(dict(pairs(p)))),
    "collections.defaultdict": (lambda v: [v.default_factory if v.default_factory in PLAIN_CLASSES else None, flat(v)],
                                lambda c, p: c(p[0] if p[0] in PLAIN_CLASSES else None, pairs(p[1]))),
    "decimal.Decimal": (lambda v: str(v), lambda c, p: c(text(p))),
    "fractions.Fraction": (lambda v: [v.numerator, v.denominator], lambda c, p: c(p[0], p[1])),
    "datetime.date": (lambda v: [v.year, v.month, v.day], lambda c, p: c(*p)),
    "datetime.time": (lambda v: [v.fold, v.tzinfo, v.hour, v.minute, v.second, v.microsecond],
                      lambda c, p: c(*p[2:], tzinfo=p[1], fold=p[0])),
    "datetime.datetime": (lambda v: [v.fold, v.tzinfo, v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond],
                          lambda c, p: c(*p[2:], tzinfo=p[1], fold=p[0])),
    "datetime.timezone": (lambda v: [v.utcoffset(None), v.tzname(None)], lambda c, p: c(p[0]) if c(p[0]).tzname(None) == p[1] else c(*p)),
    "datetime.timedelta": (lambda v: [v.days, v.seconds, v.microseconds], lambda c, p: c(*p)),
    "zoneinfo.ZoneInfo": (lambda v: v.key, lambda c, p: c(p)),
    "uuid.UUID": (lambda v: str(v), lambda c, p: c(p)),
    "array.array": (lambda v: [v.typecode, list(v)], lambda c, p: c(text(p[0]), p[1])),
    "re.Pattern": (lambda v: [v.pattern, v.flags & ~32], lambda c, p: __import__("re").compile(p[0], p[1])),
    "_io.StringIO": (lambda v: inside(v), lambda c, p: p),
    "_io.BytesIO": (lambda v: inside(v), lambda c, p: p),
    "types.SimpleNamespace": (lambda v: flat(own_dict(v, "__dict__")), lambda c, p: c(**dict(pairs(p)))),
}
STANDARD.update(("pathlib." + n, (str, lambda c, p: c(text(p)))) for n in ("PurePosixPath", "PureWindowsPath", "PosixPath"))
STANDARD.update(("ipaddress.IPv%d%s" % (v, n), (str, lambda c, p: c(text(p)))) for v in (4, 6) for n in ("Address", "Network", "Interface"))
STREAMS = (io.StringIO, io.BytesIO)
MUTABLE = ("collections.deque", "collections.OrderedDict", "collections.Counter", "collections.defaultdict", "_io.StringIO", "_io.BytesIO")
PLAIN_CLASSES = (int, float, complex, bool, str, bytes, bytearray, list, tuple, set, frozenset, dict, range, type(None), object, type)
CLASSES_BY_NAME = {c.__name__: c for c in PLAIN_CLASSES}
CLASSES_BY_NAME.update((n, c) for n, c in vars(builtins).items() if isinstance(c, type) and issubclass(c, BaseException))
VIEWS = {type({}.keys()): "k", type({}.values()): "v", type({}.items()): "i"}
DATA = frozenset((int, float, complex, bool, str, bytes, type(None), list, tuple, set, frozenset, dict))
own_dict = object.__getattribute__
Slot = types.MemberDescriptorType
# Plain data inside an object of a class that derives from it.
INSIDE = {
    int: int.__pos__, float: float.__pos__, complex: complex.__pos__, str: lambda v: str.__add__(v, ""),
    bytes: lambda v: bytes.__add__(v, b""), tuple: lambda v: tuple(tuple.__iter__(v)), frozenset: lambda v: frozenset(frozenset.__iter__(v)),
    list: lambda v: list(list.__iter__(v)), dict: lambda v: dict(dict.items(v)), set: lambda v: set(set.__iter__(v)),
}
CHANGEABLE = (list, dict, set)
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
        self.numbered, self.numbers, self.waiting, self.pending = [], {}, [], []
        # Whether something goes over that only one side has.
        self.has_handles = False

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
            known = self.known(value)
            if known is not None:
                return known
            tag = {list: "l", set: "s", dict: "d", bytearray: "B"}[kind]
            made = [tag, self.number(value)]
            made.extend(self.contents(value, depth))
            return made
        own = self.side.own_name(kind)
        if own is not None:
            return self.side.by_name(value) or self.encode_own(value, own, depth)
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
        if kind is types.TracebackType:
            return None
        if value is Ellipsis or value is NotImplemented:
            return ["K", repr(value)]
        if isinstance(value, type) and CLASSES_BY_NAME.get(class_name(value)) is value:
            return ["g", class_name(value)]
        if kind in VIEWS:
            return ["V", VIEWS[kind]] + self.each(list(value), depth)
        name = standard_name(kind)
        if name is not None:
            if name not in MUTABLE:
                parts = STANDARD[name][0](value)
                if parts is None:
                    raise Uncarryable("a `%s` object without a name" % class_name(kind))
                if name in ("datetime.datetime", "datetime.time") and value.tzinfo is not None:
                    zone, offset = type(value.tzinfo), value.utcoffset()
                    if self.side.own_name(zone) is None and standard_name(zone) is None:
                        # Without a date a zone may not know its offset.
                        if self.side.is_strict or offset is None:
                            raise Uncarryable("a `%s` object" % class_name(zone))
                        parts[1] = modules["datetime"].timezone(offset, value.tzname())
                return ["X", name, self.encode(parts, depth + 1)]
            known = self.known(value)
            if known is not None:
                return known
            made = ["x", self.number(value), name]
            made.append(self.encode(STANDARD[name][0](value), depth + 1))
            return made
        return self.side.export(self, value, depth)

    def known(self, value):
        """What stands for a changeable thing that the other side has already."""
        number = self.numbers.get(id(value))
        if number is not None:
            return ["=", number]
        number = self.side.shared_numbers.get(id(value))
        return None if number is None else ["~", number]

    def encode_own(self, value, name, depth):
        """An object of one of the user's classes."""
        own = self.side.own_classes[name]
        if own.style == "enum":
            member = own_dict(value, "__dict__").get("_name_")
            return ["n", name, member, None if member in own.members else self.encode(own_dict(value, "__dict__")["_value_"], depth + 1)]
        if own.style == "value":
            return ["v", name, self.encode(INSIDE[own.base](value), depth + 1)] + self.each(own.attributes(value), depth)
        known = self.known(value)
        if known is not None:
            return known
        made = ["o", self.number(value), name]
        # A chain of many objects must not become a deep message: what stands deeper is told afterwards.
        if depth > SHALLOW:
            self.waiting.append(value)
        else:
            made.append(self.contents(value, depth))
        return made

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
        name = self.side.own_names.get(kind)
        return self.each(inside(value) if name is None else self.side.own_classes[name].inside(value), depth)

    def watched(self, value):
        """What a numbered thing holds now: things that are the same objects as long as nothing changes."""
        name = self.side.own_names.get(type(value))
        if name is None:
            if not isinstance(value, (list, dict, set, bytearray)) and standard_name(type(value)) is None:
                raise Uncarryable("an object that became a `%s`" % class_name(type(value)))
            return inside(value)
        own = self.side.own_classes[name]
        if own.style == "object" and not own.slots:
            attributes = own_dict(value, "__dict__")
            return [*attributes.values(), *attributes]
        parts = own.inside(value)
        return parts if own.style == "object" else inside(parts[0]) + parts[1:]

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
        if tag == "~":
            return self.side.shared[item[1]][0]
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
            own = self.side.own(text(item[2]))
            if own.style in ("enum", "value"):
                raise Broken
            made = own.maker(own.cls)
            self.expect_number(item[1], made)
            if len(item) > 3:
                self.fill(made, self.all(item[3], 0, depth))
            return made
        if tag == "v":
            own = self.side.own(text(item[1]))
            payload = self.decode(item[2], depth + 1)
            if own.style != "value" or type(payload) is not own.base:
                raise Broken
            made = own.base.__new__(own.cls, payload)
            self.fill(made, self.all(item, 3, depth))
            return made
        if tag == "n":
            own = self.side.own(text(item[1]))
            return own.members[item[2]] if item[2] in own.members else own.cls(self.decode(item[3], depth + 1))
        if tag == "O":
            return self.side.own(text(item[1])).cls
        if tag == "V":
            parts = self.all(item, 2, depth)
            if item[1] == "i":
                return dict(parts).items()
            return dict.fromkeys(parts).keys() if item[1] == "k" else dict(enumerate(parts)).values()
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
        """Puts the state of an object of the user's own class in place: what it holds as plain data and as an error, then its attributes."""
        own = self.side.own_classes[self.side.own_names[type(made)]]
        if own.style in ("plain", "error"):
            inner, parts = parts[0], parts[1:]
            if type(inner) is not (tuple if own.style == "error" else own.base):
                raise Broken
            if own.style == "error":
                set_args(made, inner[:-1])
                made.__cause__ = inner[-1]
            else:
                refill(made, flat(inner) if own.base is dict else inner)
        attributes = dict(pairs(parts))
        for name in list(attributes):
            found = own.found(name) if type(name) is str else Broken
            if found is Broken:
                raise Broken
            if self.side.is_strict and (callable(found) or isinstance(found, (staticmethod, classmethod))):
                raise self.side.tampered("an attribute hides the method `%s` of a `%s` object" % (name, class_name(own.cls)))
            # What the class computes (a property, a cached one) is computed by it on this side.
            if self.side.is_strict and hasattr(type(found), "__get__") and name not in own.slots:
                del attributes[name]
        for name, slot in own.slots.items():
            if name in attributes:
                slot.__set__(made, attributes.pop(name))
            elif slot_value(slot, made, own) is not own:
                slot.__delete__(made)
        if own.has_dict:
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
        return [(c, self.watched(c)) for c in self.numbered[:count]]

    def changes(self, snapshots):
        """[number, parts...] of each container that changed since."""
        found = []
        for number, (container, before) in enumerate(snapshots):
            if not same_things(self.watched(container), before):
                found.append([number] + self.contents(container))
        return found

    def apply(self, changes, count):
        """Puts changes of the other side into one's own containers."""
        for change in changes:
            number = natural(change[0])
            if number >= count:
                raise Broken
            self.put(self.numbered[number], change)

    def put(self, container, change):
        if type(container) is bytearray:
            container[:] = bytes.fromhex(text(change[1]))
        elif type(container) in self.side.own_names:
            self.fill(container, self.all(change, 1, 0))
        else:
            refill(container, self.all(change, 1, 0))

    # What both sides keep: objects of the user's classes, and containers that the code may still hold.

    def shared_now(self):
        """What changed in it since the other side was told."""
        told = []
        for number, entry in self.side.shared.items():
            now = self.watched(entry[0])
            if not same_things(now, entry[1]):
                told.append([number] + self.contents(entry[0]))
                self.pending.append((entry, now))
        return told

    def take_shared(self, told):
        for change in told:
            entry = self.side.shared[change[0]]
            self.put(entry[0], change)
            entry[1] = self.watched(entry[0])

    def share(self, kept):
        """Keeps things; of containers only the last, on both sides the same ones."""
        side = self.side
        for number in kept:
            thing = self.numbered[natural(number)]
            side.all_shared += 1
            side.shared_numbers[id(thing)] = side.all_shared
            side.shared[side.all_shared] = [thing, self.watched(thing)]
            if side.forgets or type(thing) not in side.own_names:
                side.window.append(side.all_shared)
        while len(side.window) > (FEWER if side.forgets else MOST_CONTAINERS):
            entry = side.shared.pop(side.window.pop(0), None)
            if entry is not None:
                side.shared_numbers.pop(id(entry[0]), None)

    def worth_keeping(self, with_containers):
        """The numbers of what is to be kept."""
        side = self.side
        if not with_containers and (side.forgets or not side.own_names):
            return []
        room = FEWER // 2 if side.forgets else MOST_SHARED - len(side.shared)
        new = [n for n, thing in enumerate(self.numbered) if id(thing) not in side.shared_numbers]
        of_the_user = [n for n in new if type(self.numbered[n]) in side.own_names]
        # What lies deep in others is seldom changed by itself.
        others = [n for n in new if type(self.numbered[n]) not in side.own_names and size(self.numbered[n]) < 10000] if with_containers else []
        return of_the_user[:max(room, 0)] + others[:MOST_CONTAINERS // 4]


def same_things(now, before):
    return len(now) == len(before) and all(map(operator.is_, now, before))


own_args, set_args = class_dict(BaseException)["args"].__get__, class_dict(BaseException)["args"].__set__


class Own:
    """One of the user's classes, which both sides have: how its objects travel."""

    def __init__(self, cls):
        self.cls, self.members, mro = cls, {}, class_mro(cls)
        members = next((class_dict(c).get("_member_map_") for c in mro if "_member_map_" in class_dict(c)), None)
        self.base = next((c for c in mro if c in INSIDE), None)
        self.slots = {n: d for c in reversed(mro) if class_flags(c) & HEAP_TYPE for n, d in class_dict(c).items() if type(d) is Slot}
        self.has_dict = bool(cls.__dictoffset__)
        self.maker = next(c for c in mro if not class_flags(c) & HEAP_TYPE).__new__
        self.counted = ()
        if type(members) is dict:
            self.style, self.members = "enum", members
        elif BaseException in mro:
            self.style = "error"
        else:
            self.style = "object" if self.base is None else "plain" if self.base in CHANGEABLE else "value"

    def found(self, name):
        return next((class_dict(c)[name] for c in class_mro(self.cls) if name in class_dict(c)), None)

    def attributes(self, value):
        """Names and values of an object's attributes, in one list."""
        found = [(n, slot_value(d, value, self)) for n, d in self.slots.items()]
        found = [part for pair in found if pair[1] is not self for part in pair]
        return flat(own_dict(value, "__dict__")) + found if self.has_dict else found

    def inside(self, value):
        """All that an object holds, in one list."""
        if self.style == "object":
            return self.attributes(value)
        inner = own_args(value) + (value.__cause__,) if self.style == "error" else INSIDE[self.base](value)
        return [inner] + self.attributes(value)


def slot_value(slot, value, missing=None):
    try:
        return slot.__get__(value)
    except AttributeError:
        return missing


def size(container):
    return len(container.getvalue() if type(container) in STREAMS and not container.closed else inside(container))


def inside(container):
    """What a container holds, in one list; of a stream in memory its text, how it ends lines, and the place in it."""
    if type(container) in STREAMS:
        return [] if container.closed else list(container.__getstate__()[:-1])
    return flat(container) if isinstance(container, dict) else list(container)


def refill(container, parts):
    """Replaces what a container holds."""
    if type(container) in STREAMS:
        return container.__setstate__((*parts, None)) if parts else container.close()
    if isinstance(container, dict):
        parts = flat(parts) if isinstance(parts, dict) else parts
        # An ordered dictionary keeps its order beside what a dictionary holds.
        base = next(c for c in class_mro(type(container)) if c is dict or standard_name(c) == "collections.OrderedDict")
        base.clear(container)
        for key, value in pairs(parts):
            base.__setitem__(container, key, value)
    elif isinstance(container, list):
        list.__setitem__(container, slice(None), list(parts))
    elif isinstance(container, set):
        set.clear(container)
        set.update(container, parts)
    else:
        parts = list(parts)
        container.clear()
        container.extend(parts)


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
