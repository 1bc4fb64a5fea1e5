# The driver: what it keeps for itself before any code under test is loaded, and values as short text.
#
# A driver is one program, joined from parts (`python.rs` says which and in which order) and run in a
# dictionary of its own whose builtins are a copy. Code under test that replaces a builtin therefore does not
# reach the driver. Messages are for a reader; the parent process cleans and shortens them again.
import _signal
import builtins
import io
import os
import sys
import types

CANDIDATE = "<candidate>"
write, leave, own_pid, getpid = os.write, os._exit, os.getpid(), os.getpid
alarm, on_signal, SIGALRM = _signal.setitimer, _signal.signal, _signal.SIGALRM
original_stdout, original_stderr = sys.stdout, sys.stderr
flush_text = io.TextIOWrapper.flush
StringIO, ModuleType, FunctionType = io.StringIO, types.ModuleType, types.FunctionType
FUNCTION_KINDS = [FunctionType]
settrace, setprofile, modules = sys.settrace, sys.setprofile, sys.modules
class_dict, class_mro = type.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__
class_module, class_flags = type.__dict__["__module__"].__get__, type.__dict__["__flags__"].__get__
HEAP_TYPE = 1 << 9


class End(BaseException):
    """Ends the trial with a status and a message."""

    def __init__(self, status, message):
        self.status, self.message = status, message


def read_request(fd):
    """The fields of the request: the first line holds their lengths in bytes."""
    chunks = []
    while True:
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(fd)
    head, _, rest = b"".join(chunks).partition(b"\n")
    fields, at = [], 0
    for length in head.split():
        fields.append(rest[at:at + int(length)].decode("utf-8", "replace"))
        at += int(length)
    return fields


class TooSlow(BaseException):
    """A repr that does not end."""


def guarded_text(make, value):
    """The text `make(value)`, or a stand-in when it raises, does not end or is no text."""
    def too_slow(_number, _frame):
        raise TooSlow

    name = "<%s object>" % class_name(type(value))
    try:
        before = on_signal(SIGALRM, too_slow)
    except BaseException:
        before = None
    try:
        try:
            alarm(0, 0.3)
            text = make(value)
        finally:
            alarm(0, 0)
        return text if type(text) is str else name
    except BaseException:
        return name
    finally:
        try:
            on_signal(SIGALRM, before)
        except BaseException:
            pass


def class_name(cls):
    """The name of a class, whatever its metaclass says."""
    name = type.__dict__["__name__"].__get__(cls)
    return name if type(name) is str else "?"


def shorten(text, room=200):
    """`text` cut to `room` characters, the cut marked."""
    return text if len(text) <= room else text[:room - 20] + "... (%d characters)" % len(text)


def show(value, depth=4):
    """A short text for a value: like repr, but bounded in time and size."""
    kind = type(value)
    if kind is int:
        return repr(value) if value.bit_length() < 600 else "<int of %d bits>" % value.bit_length()
    if kind in (float, complex, bool, type(None)):
        return repr(value)
    if kind in (str, bytes, bytearray):
        return repr(value) if len(value) <= 120 else "%r... (%d long)" % (value[:100], len(value))
    if kind in (list, tuple, set, frozenset, dict) and depth > 0:
        parts, room = [], 240
        for item in (list(value.items()) if kind is dict else list(value)) if len(value) < 100000 else []:
            part = (show(item[0], depth - 1) + ": " + show(item[1], depth - 1)) if kind is dict else show(item, depth - 1)
            parts.append(part)
            room -= len(part) + 2
            if room < 0:
                break
        if len(parts) < len(value):
            parts.append("... (%d items)" % len(value))
        inner = ", ".join(parts)
        if kind is tuple and len(value) == 1:
            inner += ","
        if kind in (set, frozenset) and not value:
            return kind.__name__ + "()"
        left, right = {list: "[]", tuple: "()", set: "{}", dict: "{}", frozenset: ("frozenset({", "})")}[kind]
        return left + inner + right
    return shorten(guarded_text(repr, value))


def show_error(error):
    """An exception as `Name: text`."""
    text = shorten(" ".join(guarded_text(str, error).split()))
    name = class_name(type(error))
    return name + ": " + text if text and text != "<%s object>" % name else name


def line_in(error, file_name):
    """The line of the innermost frame of `error` that lies in `file_name`, or None."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file_name:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
