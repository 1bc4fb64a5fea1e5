# The driver: the line between the judge, which holds the tests, and the worker, which holds the code under
# test.
#
# A message is eight hex digits of length and a JSON text. Both sides use this part: it asks, answers, and
# answers questions that come while it waits.
try:
    # The C parts alone: the modules around them would use builtins that code under test can replace.
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    make_encoder = None


class Notation:
    """What the JSON reader is to make of things."""
    strict, object_hook, object_pairs_hook, memo = True, None, None, {}
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name):
        return {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}[name]


def json_codec():
    """Two functions: a value as JSON text, and back."""
    if make_encoder is None:
        import json
        return json.JSONEncoder(check_circular=False, separators=(",", ":")).encode, json.JSONDecoder().decode
    encoder = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", False, False, True)
    scan = make_scanner(Notation)

    def to_json(value):
        return "".join(encoder(value, 0))

    def from_json(text):
        try:
            value, end = scan(text, 0)
        except StopIteration:
            raise ValueError from None
        if end != len(text):
            raise ValueError
        return value

    return to_json, from_json


class Peer:
    """One end of the line. `side` exports and imports what is not plain data, and answers questions."""
    # Whether objects of the user's classes are kept only where the code may hold them, and a few at a time: what
    # they hold may change, too, and looking for that takes long where tests make thousands of calls.
    forgets = False
    # What comes up where a value cannot travel.
    cannot_carry = (Uncarryable,)

    def __init__(self, reading, writing):
        self.reading, self.writing, self.nested, self.broken = reading, writing, 0, None
        self.sends = self.takes = LARGEST
        # The user's own classes, which both sides have: their objects travel by value.
        self.own_classes, self.own_names, self.is_strict = {}, {}, False
        # Changeable things of which both sides have one, by the same numbers: each message tells what
        # changed.
        self.shared, self.shared_numbers, self.all_shared, self.window = {}, {}, 0, []
        for fd in (reading, writing):
            os.set_inheritable(fd, False)
        self.to_json, self.from_json = json_codec()

    def send(self, message):
        if getpid() != own_pid:
            leave(0)
        data = self.to_json(message).encode("ascii")
        if len(data) > self.sends:
            raise TooLarge("larger than %d MB" % (self.sends >> 20))
        data = b"%08x" % len(data) + data
        try:
            while data:
                data = data[write(self.writing, data):]
        except OSError:
            raise Gone from None

    def receive(self):
        if getpid() != own_pid:
            leave(0)
        try:
            size = int(self.take(8), 16)
            if not 0 < size <= self.takes:
                raise Broken
            message = self.from_json(self.take(size).decode("ascii"))
        except (ValueError, RecursionError):
            raise Broken from None
        if type(message) is not list or not message:
            raise Broken
        return message

    def take(self, size):
        chunks = []
        while size:
            try:
                chunk = os.read(self.reading, min(size, 1 << 20))
            except OSError:
                raise Gone from None
            if not chunk:
                raise Gone
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def add_own(self, name, cls, counted):
        """Lets objects of a class of the user's travel by value; `counted` are the attributes of the class itself that change."""
        self.own_classes[name] = own = Own(cls)
        self.own_names[cls] = name
        own.counted = [n for n in counted if n in class_dict(cls) and type(class_dict(cls)[n]) in DATA]

    def own_name(self, kind):
        """The name of a class of the user's that both sides have, or None."""
        return self.own_names.get(kind)

    def own(self, name):
        return self.own_classes[name]

    def by_name(self, value):
        """How something travels that both sides have by name; None for all else."""
        return None

    def classes_now(self, codec):
        """What the user's classes count, for the other side."""
        if not self.own_classes:
            return []
        return [[name, codec.each([part for n in own.counted for part in (n, class_dict(own.cls).get(n))], 0)]
                for name, own in self.own_classes.items() if own.counted]

    def take_classes(self, codec, told):
        for name, parts in told:
            own = self.own_classes.get(text(name))
            if own is None:
                # The other side has it already, this one is about to.
                continue
            for attribute, value in pairs(codec.all(parts, 0, 0)):
                if attribute not in own.counted or type(value) not in DATA:
                    raise Broken
                type.__setattr__(own.cls, attribute, value)

    def ask(self, question, *parts):
        """Asks the other side; returns what it answers, or raises what it raised."""
        if self.broken is not None:
            raise self.broken
        if self.nested > MOST_NESTED:
            raise RecursionError("calls back and forth are nested too deeply")
        codec = Codec(self)
        try:
            request = ["?", question, [codec.encode(part) for part in parts], self.classes_now(codec)]
            request += [codec.shared_now(), codec.told_later()]
        except self.cannot_carry as error:
            self.unfit(error)
        count = len(codec.numbered)
        self.nested += 1
        is_waiting = False
        try:
            self.send(request)
            self.sent(codec)
            is_waiting = True
            while True:
                answer = self.receive()
                if answer[0] == "!":
                    is_waiting = False
                    break
                self.serve(answer)
            return self.conclude(codec, count, answer)
        except (Broken, Gone) as fault:
            self.broken = self.fault(fault)
            raise self.broken from None
        finally:
            self.nested -= 1
            if is_waiting and self.broken is None:
                self.broken = self.cut()

    def conclude(self, codec, count, answer):
        """Reads an answer: ["!", raised, value, changes, more, classes, shared, told later, kept]."""
        try:
            _mark, raised, value, changes, more, classes, shared, later, kept = answer
            value = codec.decode(value)
            codec.apply(changes, count)
            self.take_more(codec, more)
            self.take_classes(codec, classes)
            codec.take_shared(shared)
            codec.fill_later(later)
            codec.share(kept)
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, ArithmeticError, MemoryError, ImportError,
                RecursionError, Uncarryable):
            raise Broken from None
        if not raised:
            return value
        if not isinstance(value, BaseException):
            raise Broken
        raise value.with_traceback(None)

    def serve(self, message):
        """Answers a question of the other side."""
        codec = Codec(self)
        try:
            if message[0] != "?":
                raise Broken
            question, parts = text(message[1]), [codec.decode(part) for part in message[2]]
            self.take_classes(codec, message[3])
            codec.take_shared(message[4])
            codec.fill_later(message[5])
            action = self.questions[question]
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, ArithmeticError, ImportError, RecursionError):
            raise Broken from None
        count = len(codec.numbered)
        snapshots = codec.snapshots(count)
        raised = False
        try:
            value = action(*parts)
        except (End, Broken, Gone):
            raise
        except BaseException as error:
            raised, value = True, error
            self.hand_over(error)
        try:
            answer = ["!", raised, codec.encode(value), codec.changes(snapshots), self.more(codec), self.classes_now(codec)]
            answer += [codec.shared_now(), codec.told_later()]
            kept = codec.worth_keeping(self.may_be_kept(question, parts, codec))
            self.send(answer + [kept])
            self.sent(codec)
            codec.share(kept)
        except Uncarryable as error:
            # Never a reason for one process: the other side chose to ask for it.
            self.decline(TypeError("%s cannot be carried" % error))
        except TooLarge as error:
            self.decline(ValueError("the result cannot be carried: it is %s" % error))
        except RecursionError:
            self.decline(ValueError("the result cannot be carried: it is nested too deeply"))

    def sent(self, codec):
        for entry, now in codec.pending:
            entry[1] = now

    def may_be_kept(self, question, parts, codec):
        """Whether who was asked may still hold the containers of the question, or those of its answer may change."""
        return False

    def hand_over(self, error):
        """Called with an error that the other side is about to get."""

    def decline(self, failure):
        codec = Codec(self)
        self.send(["!", True, codec.encode(failure), [], self.more(codec), self.classes_now(codec), [], codec.told_later(), []])
