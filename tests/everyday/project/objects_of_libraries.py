# Objects of the library's own classes, also of modules that only the code loads, and its fixed marks.
# entry: request
# --- pkg/zone.py ---
from datetime import timedelta, tzinfo


class Fixed(tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, moment):
        return timedelta(hours=self.hours)

    def dst(self, moment):
        return timedelta(0)

    def tzname(self, moment):
        return "F%d" % self.hours

    def __eq__(self, other):
        return isinstance(other, Fixed) and self.hours == other.hours
# --- pkg/code.py ---
import argparse
import dataclasses
from collections import UserDict
from datetime import datetime

from .zone import Fixed


def request(words, default=dataclasses.MISSING):
    from email.message import Message

    message = Message()
    message["To"] = words[0]
    space = argparse.Namespace(words=words, missing=default is dataclasses.MISSING)
    return message, space, UserDict(one=1), datetime(2024, 1, 1, tzinfo=Fixed(2))
# --- tests/test_code.py ---
import argparse
import collections
import dataclasses
from datetime import datetime

from pkg.code import request
from pkg.zone import Fixed


def test_objects():
    message, space, mapping, moment = request(["you"])
    assert message["to"] == "you" and message.get_content_type() == "text/plain"
    assert space == argparse.Namespace(words=["you"], missing=True)
    assert mapping == {"one": 1} and isinstance(mapping, collections.UserDict)
    assert moment == datetime(2024, 1, 1, tzinfo=Fixed(2)) and moment.tzinfo == Fixed(2) and moment.tzname() == "F2"


def test_marks():
    assert request(["a"], dataclasses.MISSING)[1].missing is True
    assert request(["a"], None)[1].missing is False
