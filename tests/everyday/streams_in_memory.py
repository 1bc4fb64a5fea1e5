# expect: passed
# Files in memory: what is read from them and written to them.
import io


# --- body ---
def f(source, target):
    for line in source:
        target.write(line.upper() if isinstance(line, str) else line[::-1])
        if line.strip() in ("end", b"end"):
            break
    return target


# --- tests ---
import io

source, target = io.StringIO("one\ntwo\nend\nrest\n"), io.StringIO("before ")
target.seek(0, 2)
assert f(source, target).getvalue() == "before ONE\nTWO\nEND\n"
assert target.getvalue() == "before ONE\nTWO\nEND\n"
assert source.read() == "rest\n"
assert f(io.StringIO("a\r\nb\r\n", newline=""), io.StringIO(newline="")).getvalue() == "A\r\nB\r\n"
data = io.BytesIO()
f(io.BytesIO(b"abc"), data)
assert data.getvalue() == b"cba" and data.tell() == 3
