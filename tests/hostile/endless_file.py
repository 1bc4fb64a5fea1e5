# expect: failed
# says: OSError
# Writes a file without end.
def f(x):
    with open("big", "wb") as file:
        while True:
            file.write(bytes(1 << 20))
