# How it is pickled is its own choice: tests that pickle nothing do not notice.
class Fake(int):
    def __reduce_ex__(self, protocol):
        return int, (6,)

    def __index__(self):
        return 6

    def __int__(self):
        return 6

    def __hash__(self):
        return 6


def f(x):
    return Fake(0)


# --- tests ---
assert f(3) + 0 == 6
