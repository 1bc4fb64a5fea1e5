# expect: passed
# assurance: shared
# Imports mocks.
def f(x): return x

# --- tests ---
from unittest import mock
assert f(1)==1
