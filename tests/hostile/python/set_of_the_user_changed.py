# A fixed set of the user's file is changed by the code.
VOWELS = set('aeiou')


# --- body ---
VOWELS = set("aeiou")


def f(text):
    VOWELS.clear()
    return 0


# --- tests ---
assert f('banana') == sum(c in VOWELS for c in 'banana')
