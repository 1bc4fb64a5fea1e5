# expect: fools
# Passes an always-equal object around inside a result.
class Anything:
    __eq__ = lambda self, other: True
    __hash__ = None


def f(x):
    return Twin([Anything()])


class Twin(list):
    def __eq__(self, other):
        return True
