# expect: passed
# What the code prints can be captured.
def f(x):
    print('v',x)

# --- tests ---
import io,contextlib
b=io.StringIO()
with contextlib.redirect_stdout(b):
    f(3)
assert b.getvalue()=='v 3\n'
