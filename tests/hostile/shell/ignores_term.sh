# expect: timeout
# Ignores the signals that ask it to end.
trap '' TERM INT HUP
f() { while :; do :; done; }
