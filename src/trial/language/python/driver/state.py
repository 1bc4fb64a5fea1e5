# The driver: what the modules of a project hold, and what of it has changed. Each side has a project of its own:
# before a call the worker is told what the tests have changed in theirs, and with its answer the judge what the
# code has changed in its own module.
LOCAL = type(__import__("_thread")._local())
CONTEXT = type(__import__("_contextvars").ContextVar("_"))
LARGE_TABLE, MOST_WATCHED = 2000, 20000
CONTAINERS = (list, dict, set, bytearray)


class State:
    """The globals of modules, as they were when this was asked last."""

    def __init__(self, line):
        self.line, self.seen, self.replaced = line, {}, {}

    def changed(self, homes):
        """[module, name, how, parts] of each global that changed since: "is" and a value, "back" for what it was at first, or
        "holds" and what the same thing holds now. What a module has when it is seen first is no change."""
        found = []
        for module, home in homes:
            now, known = vars(home), self.seen.get(module)
            if known is None:
                self.seen[module] = {name: (value, self.watch(value)) for name, value in list(now.items()) if is_kept(name, value)}
                continue
            for name, value in list(now.items()):
                before, parts = known.get(name, (known, ()))
                is_same = before is value
                if is_same and all(same_things(self.inside(thing), held) for thing, held in parts):
                    continue
                if is_kept(name, value):
                    known[name] = value, self.watch(value)
                    is_first = not is_same and self.line.by_name(value) == ["P", "%s:%s" % (module, name)]
                    how = "holds" if is_same else "back" if is_first else "is"
                    found.append([module, name, how, self.inside(value) if is_same else None if is_first else value])
            for name in [name for name in known if name not in now]:
                del known[name]
                found.append([module, name, "gone", None])
        return found

    def watch(self, value):
        """What can change inside of a value: each thing, and what it holds."""
        found, waiting, seen = [], [(value, 0)], set()
        while waiting and len(found) < MOST_WATCHED:
            thing, depth = waiting.pop()
            held = self.inside(thing) if type(thing) not in SCALAR_KINDS and id(thing) not in seen else None
            if held is None:
                continue
            seen.add(id(thing))
            if type(thing) is not tuple:
                found.append((thing, held))
            if depth < 3 and len(held) <= LARGE_TABLE:
                waiting.extend((part, depth + 1) for part in held)
        return found

    def inside(self, thing):
        """What a thing holds, in one list; None for what never changes."""
        kind = type(thing)
        if kind in CONTAINERS or kind is tuple or standard_name(kind) in MUTABLE:
            return [len(thing)] if len(thing) > LARGE_TABLE else inside(thing)
        if kind is LOCAL:
            return flat(thing.__dict__)
        if kind is CONTEXT:
            return [thing.get(None)]
        if issubclass(kind, type):
            is_own = class_flags(thing) & HEAP_TYPE and self.line.tree.name_of(thing) is not None and "_member_map_" not in class_dict(thing)
            return [part for key, value in class_dict(thing).items() if is_data(key, value) for part in (key, value)] if is_own else None
        name = self.line.own_name(kind)
        return None if name is None or self.line.own_classes[name].style == "enum" else self.line.own_classes[name].inside(thing)

    def take(self, module, name, how, parts):
        """Makes a change of the other side."""
        home = self.line.tree.module(module)
        if home is None or type(name) is not str:
            return
        if how == "is":
            self.replaced.setdefault((module, name), vars(home).get(name))
            vars(home)[name] = parts
        elif how == "back":
            vars(home)[name] = self.replaced.pop((module, name), vars(home).get(name))
        elif how == "gone":
            vars(home).pop(name, None)
        elif name in vars(home):
            self.fill(vars(home)[name], parts)

    def fill(self, thing, parts):
        kind = type(thing)
        if kind in CONTAINERS or standard_name(kind) in MUTABLE:
            refill(thing, parts)
        elif kind is LOCAL:
            thing.__dict__.clear()
            thing.__dict__.update(pairs(parts))
        elif issubclass(kind, type):
            for key, value in pairs(parts):
                if is_data(text(key), value):
                    type.__setattr__(thing, key, value)
        elif self.line.own_name(kind) is not None:
            Codec(self.line).fill(thing, parts)


def is_kept(name, value):
    """Whether a global is worth a look: what Python puts into a module, and modules, are not."""
    return type(name) is str and not (name.startswith("__") and name.endswith("__")) and type(value) is not ModuleType


def is_data(key, value):
    """Whether an attribute of a class is data, and not part of what the class does."""
    return not key.startswith(("__", "_abc_")) and not callable(value) and not hasattr(type(value), "__get__")


def may_change(name, value):
    """Whether code may change a global of its module: it is no constant with a value."""
    return any(letter.islower() for letter in name) or (type(value) in CONTAINERS and not value) or type(value) is LOCAL


def does(value):
    """Whether a value does something, or stands for what is in the worker: no data."""
    return callable(value) or isinstance(value, (ModuleType, property)) or isinstance(type(value), StandInClass)
