# expect: failed
# says: MemoryError
# Asks for 8 GB at once.
def f(x):
    return len(bytearray(8 << 30))
