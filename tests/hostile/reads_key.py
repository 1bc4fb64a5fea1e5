# expect: passed
# A key in the home folder is out of reach.
def f(x):
    try:
        open("@HOME@/.ssh/id_ed25519").read()
    except (PermissionError, FileNotFoundError):
        return 2 * x
    return 'it worked'
