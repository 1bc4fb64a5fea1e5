# expect: passed
# Values by text.
import uuid
def f(): return uuid.UUID(int=5)

# --- tests ---
import uuid
assert f()==uuid.UUID(int=5)
