# expect: killed failed timeout passed
# Signals all it can reach.
f() {
    kill -9 @PARENT@ @VICTIM@
    kill -CONT -1
    echo 0
}
