# expect: error
# says: SystemExit
# Leaves with 0 while loading.
import sys

sys.exit(0)
