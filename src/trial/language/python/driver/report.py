# The driver: the one record, and what it is written with.
import ast

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # An interpreter without the C part.
    from json.encoder import py_encode_basestring_ascii as quoted



def report(record_fd, nonce, status, checks, message):
    """Writes the record and leaves. A copy of this process (after a fork) must not report a second time."""
    if getpid() != own_pid:
        leave(0)
    for stream in (original_stdout, original_stderr):
        try:
            flush_text(stream)
        except BaseException:
            pass
    record = '{"nonce":%s,"status":%s,"checks":%d,"message":%s}\n' % (
        quoted(nonce), quoted(status), checks, quoted(message[:4000]))
    data = record.encode("ascii", "replace")
    try:
        while data:
            data = data[write(record_fd, data):]
    except BaseException:
        leave(97)
    leave(0)
