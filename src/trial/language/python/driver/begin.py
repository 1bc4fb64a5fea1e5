# The driver. It is joined from parts (`programs.rs` says which), and run in a dictionary of its own whose
# builtins are a copy. Everything it needs at the end is saved before any code under test is loaded.
import ast
import builtins
import json
import os
import re
import symtable
import sys

read, write, leave, dumps = os.read, os.write, os._exit, json.dumps
FunctionType = type(lambda: None)


def shorten(text, room=300):
    """A text on one line, cut to `room` characters. Spaces inside of a line stay: values may differ by them."""
    text = " ".join(line.strip() for line in str(text).split("\n") if line.strip()).replace("\t", " ")
    return text if len(text) <= room else text[:room - 3] + "..."


def show(value):
    """A short text for a value."""
    try:
        return shorten(repr(value), 200)
    except BaseException:
        return "<%s object>" % type(value).__name__


def show_error(error):
    """An exception as `Name: text`."""
    try:
        text = shorten(error, 200)
    except BaseException:
        text = ""
    return type(error).__name__ + (": " + text if text else "")


class Parts:
    """The parts of the language and of test runners that decide a test, to notice which of them were replaced."""

    MODULES = ("builtins", "unittest.case", "unittest.suite", "unittest.loader", "doctest", "_pytest.runner", "_pytest.python",
               "_pytest.reports", "_pytest.python_api", "_pytest.raises", "_pytest.assertion.rewrite", "_pytest.assertion.util", "pluggy._callers",
               "pluggy._hooks", "pluggy._manager")

    def __init__(self):
        self.known, self.own = {}, dict(vars(builtins))
        self.look()

    def look(self):
        """Notes what has been loaded since."""
        for name in self.MODULES:
            module = sys.modules.get(name)
            if module is not None and name not in self.known:
                self.known[name] = self.of(module)

    def of(self, module):
        found = {}
        for name, value in vars(module).items():
            # Names that doctest sets, and names that this driver replaces.
            if name in ("_", "_ShouldStop") or name.startswith("__") and name != "__import__" and name != "__build_class__":
                continue
            found[name] = value
            is_own = isinstance(value, type) and value.__module__ == module.__name__ and value.__flags__ & 1 << 9
            for inner, part in vars(value).items() if is_own else ():
                if isinstance(part, FunctionType):
                    found[name + "." + inner] = part
        # The code of a function may be replaced, too.
        codes = {name + ".__code__": value.__code__ for name, value in found.items() if isinstance(value, FunctionType)}
        return dict(found, **codes)

    def replaced(self):
        """The names of the parts that are not what they were."""
        changed = []
        for module, known in self.known.items():
            now, missing = self.of(sys.modules.get(module, builtins)), object()
            changed += ["%s.%s" % (module, name) for name, value in known.items() if now.get(name, missing) is not value]
            # Names added to the builtins.
            changed += ["builtins.%s" % name for name in now if module == "builtins" and name not in known]
        return sorted(changed)[:20]
