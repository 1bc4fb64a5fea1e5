# The driver: a function without its body, which notes the tests that call it.
from signal import ITIMER_REAL, SIGALRM, setitimer, signal
from tempfile import mkdtemp

CONTROL = "the function under test has no body here"
# Time in seconds that a test has after it has called a function without a body, and then again and again: it may wait
# for ever for what that does.
LEFT = 3, 1


class Waited(BaseException):
    """A test goes on long after it has called the function, which has no body."""


class StandIn:
    """Behaviour of the function without its body: notes which test calls it. In processes that tests start, the
    module is a file, and leaves a note."""

    def __init__(self, tests):
        folder = mkdtemp()
        self.tests = os.path.realpath(tests)
        self.current, self.reached, self.answers, self.is_loaded_by = "", set(), False, False
        self.own, self.note = os.getpid(), os.path.join(folder, "called")
        with open(os.path.join(folder, "_reached.py"), "w") as file:
            file.write("def called():\n    open(%r, 'w').close()\n    raise RuntimeError(%r)\n" % (self.note, CONTROL))
        sys.path.append(folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), folder]))
        module = sys.modules["_reached"] = type(sys)("_reached")
        module.called = self.called
        signal(SIGALRM, self.late)

    def late(self, number, frame):
        raise Waited(CONTROL)

    def called(self):
        if self.answers:
            return None
        if os.getpid() != self.own:
            open(self.note, "w").close()
        elif not self.current and not os.path.realpath(sys._getframe(2).f_code.co_filename).startswith(self.tests):
            # A decorator or a factory that modules call while they are loaded: the tests that use its result call it.
            self.is_loaded_by = True
            return Later(self)
        elif self.current and self.current not in self.reached:
            setitimer(ITIMER_REAL, *LEFT)
        self.reached.add(self.current)
        raise RuntimeError(CONTROL)

    def ended(self, test):
        setitimer(ITIMER_REAL, 0)
        if os.path.exists(self.note):
            os.unlink(self.note)
            self.reached.add(test)


# Methods that Python looks up in the class of an object alone.
LOOKED_UP = "bool eq ne lt le gt ge str format len iter contains getitem setitem enter exit int float index round neg abs add sub mul \
truediv floordiv mod pow and or xor radd rsub rmul rtruediv rfloordiv rmod rand ror rxor".split()


def use_by(name):
    """A method of `Later` of this name."""
    def use(self, *values):
        if self._stand_in.current:
            return self._stand_in.called()
        # A module goes on with the result while it is loaded, and no test shows that.
        self._stand_in.reached.add("")
        of_all = getattr(object, name, None)
        if of_all is None and name != "__bool__":
            raise TypeError("there is no %s before the function has a body" % name)
        return of_all(self, *values) if of_all else True
    return use


class Later:
    """The result of a call of the stand-in outside of tests. Within a test its use counts as a call."""

    def __init__(self, stand_in):
        self.__dict__["_stand_in"] = stand_in

    def __call__(self, *values, **named):
        return self._stand_in.called() if self._stand_in.current else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self()


for name in LOOKED_UP:
    setattr(Later, "__%s__" % name, use_by("__%s__" % name))
