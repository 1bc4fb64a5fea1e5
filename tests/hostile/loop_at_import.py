# expect: timeout
# An endless loop while loading.
while True:
    pass
