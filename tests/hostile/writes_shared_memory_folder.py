# expect: passed
# The folder of shared memory is out of reach.
def f(x):
    try:
        open("/dev/shm/bass-tui-made", "w")
    except OSError:
        return 2 * x
    return 'it worked'
