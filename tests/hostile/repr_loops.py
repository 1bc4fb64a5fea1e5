# expect: failed timeout
# The wrong result has a repr that does not end.
class Slow:
    def __repr__(self):
        while True:
            pass


def f(x):
    return Slow()
