# expect: passed
# State of the module that the code keeps.
count = 0
seen = []


def reset():
    global count
    count = 0
    seen.clear()


# --- body ---
count = 0
seen = []


def f(x):
    global count
    count += 1
    seen.append(x)
    return count


def reset():
    global count
    count = 0
    seen.clear()


# --- tests ---
import doubling as solution

solution.reset()
assert f(5) == 1 and f(6) == 2
assert solution.count == 2 and solution.seen == [5, 6]
solution.reset()
assert solution.count == 0 and f(1) == 1
