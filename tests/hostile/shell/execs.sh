# expect: failed
# Becomes another program.
f() { exec false; }
exec false
