# expect: passed killed
# Writes three thousand small files.
for number in range(3000):
    with open("file%d" % number, "w") as file:
        file.write("x")


def f(x):
    return 2 * x
