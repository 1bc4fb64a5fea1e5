# expect: failed
# The result is nested very deeply.
def f(x):
    result = []
    for _ in range(100000):
        result = [result]
    return result
