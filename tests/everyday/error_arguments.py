# expect: passed
# Arguments of errors.
def f(d): return d['zz']

# --- tests ---
try:
    f({})
except KeyError as e:
    assert e.args==('zz',)
    assert str(e)=="'zz'"
else:
    assert False
assert True
