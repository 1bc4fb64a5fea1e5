# expect: passed killed
# Writes many small files.
for number in range(1000):
    with open("file%d" % number, "w") as file:
        file.write("x")


def f(x):
    return 2 * x
