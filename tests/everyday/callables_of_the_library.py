# expect: passed
# Callables of the library, given to the code.
import functools
def f(g, xs): return [g(x) for x in xs]
def srt(xs, key): return sorted(xs, key=key)
def apply(g, x): return g(x)

# --- tests ---
import operator, functools
assert f(str.upper, ["a"]) == ["A"]
assert srt([(1, 2), (2, 1)], operator.itemgetter(1)) == [(2, 1), (1, 2)]
assert srt(["bb", "a"], len) == ["a", "bb"]
@functools.lru_cache
def sq(x): return x * x
assert f(sq, [2]) == [4]
assert f(functools.partial(pow, 2), [3]) == [8]
assert apply(list, (1, 2)) == [1, 2]
assert apply(sum, [1, 2]) == 3
assert f([1, 2, 3].index, [2]) == [1]
assert f({1: 2}.get, [1, 5]) == [2, None]
import math
assert f(math.sqrt, [4]) == [2.0]
