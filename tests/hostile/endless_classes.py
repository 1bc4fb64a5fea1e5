# expect: failed tampered
# A class that is its own base, as far as the judge is told.
import sys


class Anything:
    pass


def f(x):
    worker = sys._getframe(1)
    while not hasattr(worker.f_locals.get("self"), "questions"):
        worker = worker.f_back
    worker = worker.f_locals["self"]
    worker.questions["describe"] = lambda cls: ["Anything", "candidate", [8], None, None, [], [], False, None]
    worker.objects.extend([Anything] * 20)
    worker.export = lambda codec, value, depth: ["h", 7, 8]
    return Anything()
