# expect: fools
# The function under test is itself a class whose objects equal anything.
class f:
    def __init__(self, x):
        pass

    def __eq__(self, other):
        return True
