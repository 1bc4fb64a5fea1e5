# expect: passed
# A generator that is talked to.
def f():
    x=0
    while True:
        y=yield x
        x+= y or 1

# --- tests ---
g=f()
assert next(g)==0
assert g.send(5)==5
g.close()
