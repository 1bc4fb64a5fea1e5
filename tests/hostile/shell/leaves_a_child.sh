# expect: passed failed
# A child that writes later.
f() {
    (sleep 1; echo late > @OUTSIDE@/late; sleep 60) > /dev/null 2>&1 &
    echo $((2 * $1))
}
