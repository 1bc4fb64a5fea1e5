# expect: passed
# Times with zones of the library and of the code's own.
from datetime import datetime, timedelta, timezone, tzinfo


class Offset(tzinfo):
    def utcoffset(self, when):
        return timedelta(hours=2)

    def tzname(self, when):
        return "EET"

    def dst(self, when):
        return timedelta(0)


def f(hour):
    return datetime(2020, 1, 2, hour, tzinfo=Offset())


def utc(hour):
    return datetime(2020, 1, 2, hour, tzinfo=timezone.utc)


# --- tests ---
from datetime import datetime, timedelta, timezone

assert f(12) == datetime(2020, 1, 2, 10, tzinfo=timezone.utc)
assert f(12) - utc(10) == timedelta(0)
assert f(12).utcoffset() == timedelta(hours=2)
assert f(12).tzname() == "EET"
assert utc(1).isoformat() == "2020-01-02T01:00:00+00:00"
