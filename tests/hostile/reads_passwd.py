# expect: passed
# The list of users is out of reach.
def f(x):
    try:
        open("/etc/passwd").read()
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
