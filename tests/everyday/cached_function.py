# expect: passed
# Attributes of decorated functions.
import functools
@functools.lru_cache(None)
def f(n): return n if n<2 else f(n-1)+f(n-2)

# --- tests ---
assert f(30)==832040
assert f.cache_info().hits>0
f.cache_clear()
