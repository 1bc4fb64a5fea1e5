# expect: killed timeout failed
# Forks without end.
f() { f 1 | f 1 & f 1; }
