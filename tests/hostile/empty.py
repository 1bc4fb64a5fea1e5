# expect: error failed
# Nothing but comments.
