# expect: passed
# Lazy results of builtins.
def f(xs):
    return map(lambda x: x * 2, filter(None, xs))


def g(xs):
    return enumerate(xs)


def h(d):
    return d.items(), reversed(list(d)), zip(d, d.values())


# --- tests ---
assert list(f([0, 1, 2])) == [2, 4]
assert dict(g("ab")) == {0: "a", 1: "b"}
items, back, both = h({"a": 1, "b": 2})
assert ("a", 1) in items and len(items) == 2
assert list(back) == ["b", "a"]
assert dict(both) == {"a": 1, "b": 2}
assert items == {("a", 1), ("b", 2)}
assert set(items) & {("a", 1)} == {("a", 1)}
