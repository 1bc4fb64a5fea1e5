# expect: passed
# Prints what would act on a terminal.
def f(x):
    print("\x1b[2J\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b[6n\x1bPq\x1b\\\x9b31m\u202ehidden\r\x00shown")
    return 2 * x
