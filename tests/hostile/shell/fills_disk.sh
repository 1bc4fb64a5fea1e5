# expect: killed failed timeout
# Writes files without end.
f() { i=0; while :; do i=$((i + 1)); head -c 4000000 /dev/zero > big$i; done; }
