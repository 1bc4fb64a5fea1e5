# expect: failed
# says: f(4) gave 5, expected 8
# A wrong answer.
def f(x):
    return x + 3 if x == 3 else 5
