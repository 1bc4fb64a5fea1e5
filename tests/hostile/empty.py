# expect: error
# says: empty
# Nothing but comments.
