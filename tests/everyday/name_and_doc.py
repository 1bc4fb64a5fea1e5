# expect: passed
# Name and docstring.
def f(x):
    'Doc here.'
    return x

# --- tests ---
assert f.__doc__=='Doc here.'
assert f.__name__=='f'
assert callable(f)
