# expect: error
# says: SyntaxError
# No Python at all.
def f(x:
    return
