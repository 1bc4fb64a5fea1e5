# expect: passed
# says: exit code 0
# The right answer.
f() { echo $((2 * $1)); }
