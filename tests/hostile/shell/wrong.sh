# expect: failed
# says: exit code 1
# The wrong answer.
f() { echo $(($1 * $1)); }
