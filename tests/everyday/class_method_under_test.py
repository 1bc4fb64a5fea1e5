# expect: passed
# entry: Version.parse
# A method of the class.
class Version:
    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    @classmethod
    def parse(cls, text):
        pass

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)

    def __eq__(self, other):
        return (self.major, self.minor) == (other.major, other.minor)


# --- body ---
class Version:
    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    @classmethod
    def parse(cls, text):
        return cls(*map(int, text.split(".")))

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)

    def __eq__(self, other):
        return (self.major, self.minor) == (other.major, other.minor)


# --- tests ---
assert Version.parse("1.2") == Version(1, 2)
assert sorted([Version.parse("2.0"), Version.parse("1.9")])[0] == Version(1, 9)
assert max(Version.parse(t) for t in ("1.2", "1.10")).minor == 10
assert Version(0, 0).parse("3.4").major == 3
