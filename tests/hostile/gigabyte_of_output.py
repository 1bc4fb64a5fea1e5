# expect: killed
# says: printed more than
# Prints a gigabyte.
def f(x):
    for _ in range(1 << 10):
        print("x" * (1 << 20))
    return 2 * x
