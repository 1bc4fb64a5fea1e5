# expect: timeout
# Swallows whatever is raised in it.
def f(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
