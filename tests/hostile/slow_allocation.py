# expect: failed killed
# Takes more and more memory.
def f(x):
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
