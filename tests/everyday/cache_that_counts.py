# expect: passed
# The counters of a cache move only when the tests call.
import functools


@functools.lru_cache(maxsize=2)
def f(x):
    return {'x': x}.get('x') * 2


# --- tests ---
assert f(1) == 2
assert f(1) == 2
assert f(2) == 4
info = f.cache_info()
assert (info.hits, info.misses, info.currsize, info.maxsize) == (1, 2, 2, 2)
assert f.cache_info() == (1, 2, 2, 2)
f.cache_clear()
assert f.cache_info().currsize == 0
