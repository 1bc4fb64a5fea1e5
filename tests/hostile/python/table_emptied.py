# A table of the user's file is emptied by the code.
TABLE = [(3, 6), (4, 8)]


# --- body ---
def f(x):
    TABLE.clear()
    return 0


# --- tests ---
f(0)
for x, expected in TABLE:
    assert f(x) == expected
assert len(TABLE) == 2
