# expect: passed
# A class that only the code defines, as MBPP asks for it.
class Pair(object):
    def __init__(self, a, b):
        self.a = a
        self.b = b


def f(arr, n):
    most = 0
    best = [1] * n
    for i in range(1, n):
        for j in range(i):
            if arr[i].a > arr[j].b:
                best[i] = max(best[i], best[j] + 1)
    return max(best)


# --- tests ---
assert f([Pair(5, 24), Pair(15, 25), Pair(27, 40), Pair(50, 60)], 4) == 3
assert f([Pair(1, 2), Pair(3, 4), Pair(5, 6), Pair(7, 8)], 4) == 4
assert f([Pair(19, 10), Pair(11, 12), Pair(13, 14), Pair(15, 16), Pair(31, 54)], 5) == 5
