# The driver for one process: what the interpreter itself tells of code that reaches for the judge. A hook for
# its audit events cannot be taken away, and no name is needed to be seen by it.
from _thread import get_ident

getframe, addaudithook, library = sys._getframe, sys.addaudithook, os.path.dirname(os.__file__)

# Attributes that lead to frames.
TO_FRAMES = frozenset(("tb_frame", "gi_frame", "cr_frame", "ag_frame"))
# Functions of the library that hand frames to whoever calls them.
HANDS_ON = frozenset(("inspect.py", "base_tasks.py"))
WALKS = frozenset(("walk_stack", "walk_tb"))
FORBIDDEN = {
    "gc.get_objects": "walked through all objects",
    "gc.get_referrers": "walked through all objects",
    "gc.get_referents": "walked through all objects",
    "sys._current_frames": "read the frames of the judge",
    "sys._current_exceptions": "read the frames of the judge",
    "sys.settrace": "traced the judge",
    "sys.setprofile": "traced the judge",
    "sys.monitoring.register_callback": "traced the judge",
    "ctypes.cdata": "read memory by its address",
    "ctypes.string_at": "read memory by its address",
    "ctypes.wstring_at": "read memory by its address",
}


class Watch:
    """Notes what code under test does to the judge."""

    def __init__(self, tests_file):
        self.caught, self.is_on, self.busy = None, False, set()
        self.homes = tuple({library, *(path for path in sys.path if path)})
        self.own = ("<driver>", "<example>", tests_file)
        addaudithook(self.hear)

    def seal(self, space):
        """Remembers the driver's own functions and classes, which code that knows their classes can reach."""
        kinds = [class_dict(kind) for kind in list(space.values()) if isinstance(kind, type) and class_module(kind) == "driver"]
        self.sealed = [(live, dict(live)) for live in [space, space["__builtins__"]] + kinds]

    def verify(self):
        """Notes what of the driver is another."""
        for live, kept in self.sealed:
            if any(live.get(key, self) is not value for key, value in kept.items()):
                self.caught = self.caught or "the code replaced a part of the judge"

    def is_library(self, name):
        return name.startswith(self.homes) or name.startswith("<frozen ")

    def is_codes(self, frame):
        """Whether what runs there is neither the library's, the driver's nor the tests'."""
        return frame is not None and self.is_codes_file(frame.f_code.co_filename)

    def is_codes_file(self, name):
        return not self.is_library(name) and name not in self.own

    def outer(self, frame, is_inner):
        while frame is not None and is_inner(frame.f_code.co_filename):
            frame = frame.f_back
        return frame

    def reads_frames(self, frame):
        """Whether the frame that is asked for here gets into the hands of the code."""
        if self.is_codes(frame):
            return True
        name = frame.f_code.co_filename.rpartition("/")[2]
        if name in HANDS_ON:
            return self.is_codes(self.outer(frame, self.is_library))
        return name == "traceback.py" and frame.f_code.co_name in WALKS and self.is_codes(frame.f_back)

    def what(self, event, arguments, frame):
        if event == "sys._getframe" or event == "object.__getattr__" and arguments[1] in TO_FRAMES:
            return "read the frames of the judge" if self.reads_frames(frame) else None
        if event in FORBIDDEN:
            return FORBIDDEN[event] if self.is_codes(self.outer(frame, self.is_library)) else None
        if event == "ctypes.dlsym":
            name = arguments[1] if type(arguments[1]) is str else ""
            return "called the interpreter from outside" if name.startswith(("Py", "_Py")) else None
        if event == "object.__setattr__" and arguments[1] == "__code__":
            is_ours = type(arguments[0]) is FunctionType and not self.is_codes_file(arguments[0].__code__.co_filename)
            return "replaced a part of the judge" if is_ours and self.is_codes(frame) else None
        if event in ("compile", "code.__new__"):
            name = arguments[1]
            name = name if type(name) is str else ""
            pretends = name in self.own or self.is_library(name)
            return "gave its code the name of another file" if pretends and self.is_codes(frame) else None
        if event == "open":
            path = arguments[0]
            path = path.decode("utf-8", "replace") if type(path) is bytes else path
            _, proc, below = path.partition("proc/") if type(path) is str else ("", "", "")
            if proc and below.split("/")[0].strip("0123456789") in ("", "self", "thread-self"):
                return "opened %s" % path[:60] if self.is_codes(self.outer(frame, self.is_library)) else None
        return None

    def hear(self, event, arguments):
        thread = get_ident()
        if not self.is_on or thread in self.busy:
            return
        # The hook asks for a frame itself, which is an event, too.
        self.busy.add(thread)
        try:
            what = self.what(event, arguments, getframe(1))
        finally:
            self.busy.discard(thread)
        if what is not None:
            self.caught = "the code " + what
            raise End("tampered", self.caught)
