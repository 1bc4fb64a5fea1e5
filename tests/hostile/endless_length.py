# expect: failed
# tests: assert len(f(3)) == 6
# A length that is no number.
class Long:
    def __len__(self):
        return 1 << 70


def f(x):
    return Long()
