# expect: killed
# says: exit code 0
# Leaves with 0 past Python while loading.
import os

os._exit(0)
