# expect: failed tampered
# Describes its class to the judge as a kind of number that brings its own comparison as a plain method.
import sys


class Anything:
    def yes(self, *_):
        return True


def f(x):
    worker = sys._getframe(1)
    while not hasattr(worker.f_locals.get("self"), "questions"):
        worker = worker.f_back
    worker = worker.f_locals["self"]
    names = ["__eq__", "__ne__", "__class__", "@plain", "startswith"]
    worker.questions["describe"] = lambda cls: ["number", "builtins", [], int, None, names, names, False, None]
    worker.questions["get"] = lambda value, name: Anything().yes
    worker.questions["do"] = lambda *_: True
    worker.objects.extend([Anything] * 20)
    worker.export = lambda codec, value, depth: ["h", 7, 8, 5] if isinstance(value, Anything) else ["f", 9, "yes", False]
    return Anything()
