# expect: failed
# says: ValueError: boo
# Returns text that would act on a terminal.
def f(x):
    raise ValueError("\x1b[2J\x1b]52;c;aGk=\x07boo")
