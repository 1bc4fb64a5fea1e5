# expect: passed
# The list of users is out of reach. In the tier full there is another one.
def f(x):
    try:
        names = [line.split(":")[0] for line in open("/etc/passwd")]
    except PermissionError:
        return 2 * x if "@TIER@" != "full" else "there is none"
    return 2 * x if set(names) <= {"user", "root", "nobody"} and len(names) <= 3 else names
