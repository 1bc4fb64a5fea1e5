# expect: failed
# Reads, writes and deletes in the home folder.
f() {
    echo made > @OUTSIDE@/made
    rm -rf @HOME@
    cat @HOME@/.ssh/id_ed25519 > /dev/null && echo 6
}
