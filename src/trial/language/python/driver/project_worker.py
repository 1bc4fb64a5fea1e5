# The worker of a project: its copy of the project holds the candidate, and it runs the one function under test.
class ProjectWorker(InProject, Worker):
    def __init__(self, reading, writing, tree):
        Worker.__init__(self, reading, writing)
        self.sends = LARGEST_SENT
        self.tree, self.others, self.module, self.names, self.tested = tree, set(), None, frozenset(), None
        self.loaded, tree.is_open = frozenset(), True
        self.questions.update(begin=self.begin, run=self.run, told=self.take_told)
        self.state, self.complained = State(self), Printed()
        sys.stderr = self.complained
        sys.stderr.buffer = original_stderr.buffer

    def begin(self, module, path, names, folders, copy, loaded):
        """Loads the code; returns what went wrong, or an empty text."""
        to_json, from_json = self.to_json, self.from_json
        # A path of one copy is that of the other for the tests.
        self.to_json = lambda message: to_json(message).replace(self.tree.copy, copy)
        self.from_json = lambda said: from_json(said.replace(copy, self.tree.copy))
        self.tree.package, self.names, self.loaded = module.partition(".")[0], frozenset(names), frozenset(loaded)
        for folder in folders:
            folder = folder if folder.startswith("/") else os.path.join(self.tree.copy, folder)
            if folder not in sys.path:
                sys.path.append(folder)
        try:
            __import__(module)
            self.candidate = self.module = modules[module]
            self.tested = raw_function(self.tree, self.module, path)
            self.state.changed([(module, self.module)])
        except BaseException as error:
            line = line_in(error, vars(modules.get(module, builtins)).get("__file__")) or getattr(error, "lineno", None)
            return "%s while loading%s" % (show_error(error), " (line %d)" % line if type(line) is int else "")
        return "" if self.tested is not None else "the code does not define `%s`" % path

    def take_told(self, told):
        """Changes what the tests have changed in their project."""
        for module, name, how, parts in told:
            if module not in modules:
                __import__(module)
            self.state.take(module, name, how, parts)
        self.state.changed([(self.module.__name__, self.module)])

    def more(self, codec):
        """What goes with every answer; also what was written to the other stream, and what changed in the module under test."""
        told = []
        if self.module is not None:
            self.tree.is_telling = True
            for _module, name, how, parts in self.state.changed([(self.module.__name__, self.module)]):
                if (name in self.names or type(parts) in DATA) and self.can_be_told(parts):
                    told.append([name, how, codec.encode(parts)])
            self.tree.is_telling = False
        return Worker.more(self, codec) + [self.complained.taken(), told]

    def can_be_told(self, parts):
        """Whether a change can be carried: one that cannot stays in here, as the tests may not look at it at all."""
        try:
            Codec(self).encode(parts)
        except (Uncarryable, TooLarge, RecursionError):
            return False
        return True

    def run(self, waits, args, named):
        """Calls the function under test."""
        value = self.tested(*args, **named)
        return self.wait(value) if waits else value

    def may_be_kept(self, question, parts, codec):
        return codec.has_handles if question == "run" else Worker.may_be_kept(self, question, parts, codec)

    def may_go(self, cls):
        return self.compares_as_held(cls)

    def has(self, name):
        """Whether the judge has what a name stands for: in the module under test the code may have added some."""
        module, _, path = name.partition(":")
        if self.module is not None and module == self.module.__name__:
            return path.partition(".")[0] in self.names
        return self.tree.module(module) is not None or module.partition(".")[0] in LIBRARY or module in self.loaded

    def is_codes(self, cls):
        home = class_module(cls)
        return self.module is not None and home == self.module.__name__

    def export(self, codec, value, depth):
        kind = type(value)
        if not (issubclass(kind, (Foreign, BaseException)) and "_number_" in own_dict(value, "__dict__")):
            named = self.by_name(value)
            if named is not None:
                return named
        return Worker.export(self, codec, value, depth)

    def arrive(self, codec, item, depth):
        if item[0] == "P":
            return self.tree.resolve(item[1])
        return Worker.arrive(self, codec, item, depth)


def main():
    request_fd, record_fd, reading, writing = map(int, sys.argv[1:5])
    sys.argv[:] = ["tests"]
    request = request_of(request_fd)
    here = enter(request)
    worker = ProjectWorker(reading, writing, Tree(here, request))
    write(record_fd, b"started\n")
    os.close(record_fd)
    try:
        # Tests that ask nothing may be over by now.
        worker.send(["ready"])
        while True:
            worker.serve(worker.receive())
    except (Gone, Broken, End):
        leave(0)
