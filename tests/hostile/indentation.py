# expect: error
# says: IndentationError
# Wrong indentation.
def f(x):
return 2 * x
