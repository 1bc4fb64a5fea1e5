# expect: passed
# Errors of the library with fields of their own.
def f(b): return b.decode('utf-8')
import json
def g(s): return json.loads(s)

# --- tests ---
try:
    f(b'\xff')
except UnicodeDecodeError as e:
    assert 'invalid start byte' in str(e)
else:
    assert False
import json
try:
    g('{')
except json.JSONDecodeError as e:
    assert 'Expecting' in str(e)
else:
    assert False
assert True
