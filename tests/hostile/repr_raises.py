# expect: failed
# The wrong result has a repr that raises, inside itself.
class Bad:
    def __repr__(self):
        raise SystemExit(0)


def f(x):
    result = [Bad(), 10 ** 100000, "x" * 5_000_000]
    result.append(result)
    return result
