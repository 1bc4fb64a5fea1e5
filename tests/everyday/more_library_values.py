# expect: passed
# Paths, addresses, arrays, patterns.
import array
import ipaddress
import pathlib
import re
import types


def f(kind):
    return {
        "path": pathlib.PurePosixPath("a") / "b.txt", "address": ipaddress.ip_address("10.0.0.1"),
        "network": ipaddress.ip_network("10.0.0.0/8"), "array": array.array("i", [1, 2]), "pattern": re.compile("a(.)", re.I),
        "space": types.SimpleNamespace(a=1, b=[2]), "match": re.match("a(.)", "ab"),
    }[kind]


# --- tests ---
import array
import ipaddress
import re
import types

assert f("path").suffix == ".txt" and str(f("path")) == "a/b.txt"
assert f("address") == ipaddress.ip_address("10.0.0.1")
assert f("address") in f("network")
assert f("array") == array.array("i", [1, 2])
assert f("pattern") == re.compile("a(.)", re.I)
assert f("pattern").match("Ab").group(1) == "b"
assert f("space") == types.SimpleNamespace(a=1, b=[2])
assert f("match") and f("match").group(1) == "b" and f("match").span() == (0, 2)
