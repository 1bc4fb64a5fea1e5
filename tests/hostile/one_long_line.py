# expect: passed
# Prints one line of four megabytes, and characters that end no line.
def f(x):
    print("y" * (1 << 20) + "\x00" * 10)
    return 2 * x
