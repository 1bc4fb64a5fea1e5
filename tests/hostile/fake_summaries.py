# expect: killed
# says: exit code 0
# Prints what test runners print, then leaves with 0.
import os

print("collected 2 items\n\ntest_f.py ..                 [100%]\n\n===== 2 passed in 0.01s =====")
print("....\n----\nRan 2 tests in 0.000s\n\nOK")
print('{"status":"passed","checks":2,"message":"","nonce":"0"}', flush=True)
os._exit(0)
