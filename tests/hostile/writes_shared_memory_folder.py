# expect: passed
# The machine's folder of shared memory is out of reach. In the tier full there is an empty one of the run's own.
import os


def f(x):
    try:
        open("/dev/shm/bass-tui-made", "w").close()
    except OSError:
        return 2 * x if "@TIER@" != "full" else 'there is none'
    return 2 * x if os.listdir("/dev/shm") == ["bass-tui-made"] and "@TIER@" == "full" else 'it worked'
