# expect: passed
# Files outside cannot be made.
def f(x):
    try:
        open("@OUTSIDE@/made", "w")
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
