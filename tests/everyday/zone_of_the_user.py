# expect: passed
# A zone of the user's, which C code asks for its type.
from datetime import datetime, timedelta, tzinfo


class Offset(tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return timedelta(hours=self.hours)

    def dst(self, when):
        return timedelta(0)


# --- body ---
def f(hour):
    return datetime(2020, 1, 2, hour, tzinfo=Offset(3))


# --- tests ---
from datetime import timezone

assert f(12).astimezone(timezone.utc).hour == 9
assert f(12).tzinfo.hours == 3
assert isinstance(f(12).tzinfo, Offset)
