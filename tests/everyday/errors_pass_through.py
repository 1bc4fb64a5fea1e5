# expect: passed
# Errors of the tests pass through the code.
class E(Exception): pass
def f(g):
    try: g()
    except ValueError as e: return 'caught '+str(e)
    except E as e: return 'own'

# --- tests ---
def g(): raise ValueError('x')
assert f(g)=='caught x'
def h(): raise E('x')
assert f(h)=='own'
