# The driver for one process: one trial from the request to the record.


def hide(fd):
    """Moves the report pipe to a number that is not guessed by counting from 3, closed when another program is started."""
    import _random
    import fcntl
    place = 60 + int(_random.Random().random() * 120)
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, place)
    os.close(fd)
    return high


def load(candidate, program):
    """Runs the program as a module of its own."""
    try:
        tree = ast.parse(program, CANDIDATE)
        code = compile(tree, CANDIDATE, "exec", 0, True)
    except SyntaxError as error:
        raise End("error", "line %s: %s: %s" % (error.lineno, class_name(type(error)), error.msg))
    except BaseException as error:
        raise End("error", "the code does not compile: %s" % show_error(error))
    if not tree.body:
        raise End("error", "the code is empty")
    try:
        exec(code, vars(candidate))
    except BaseException as error:
        line = line_in(error, CANDIDATE)
        raise End("error", "%s while loading%s" % (show_error(error), " (line %d)" % line if line else ""))


def calm():
    """Takes trace and profile functions away."""
    settrace(None)
    setprofile(None)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        for tool in range(6):
            try:
                monitoring.free_tool_id(tool)
            except BaseException:
                pass


def namespace(candidate, entry, guard):
    """What the tests see of the candidate: its names, but not those that would hide a builtin from the tests."""
    space = {}
    for key, value in list(vars(candidate).items()):
        if key.startswith("__") and key.endswith("__"):
            continue
        if key in guard.builtins and key != entry:
            shadowed = guard.builtins[key]
            if entry is not None or (isinstance(shadowed, type) and issubclass(shadowed, BaseException)):
                continue
        space[key] = value
    if entry in space:
        space[entry] = guard.wrap(space[entry])
    space["__builtins__"] = builtins
    return space


def trial(style, program, entry, module, file_name, text):
    """Runs the trial; returns (status, checks, message)."""
    guard = Guard()
    suite, sets = None, []
    judge = Judge(guard, file_name, text)
    if style == "doctest":
        sets = [examples for examples in example_sets(text, entry) if examples]
        try:
            guard.named = frozenset(n.name for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ClassDef)) - {entry}
        except (SyntaxError, ValueError):
            pass
        if not sets:
            return "not_run", 0, "no `>>>` examples found"
    else:
        suite = Suite(file_name, text, guard, module)
        judge = suite.judge
        if style == "parse":
            return "passed", 1, ""
        suite.prepare(guard)
        if "random" in modules:
            modules["random"].seed(0)
        guard.named = frozenset(getattr(suite, "named", ())) - {entry}
    candidate = guard.candidate = ModuleType("candidate")
    candidate.__file__ = CANDIDATE
    modules["candidate"] = candidate
    if style == "doctest":
        as_imported(candidate, module)
    started()
    load(candidate, program)
    guard.compare()
    calm()
    space = namespace(candidate, entry, guard)
    if entry is not None:
        find(space, entry)
    try:
        if suite is not None:
            suite.run(candidate, space, entry)
        for examples in sets:
            run_examples(judge, examples, dict(space))
    except End as end:
        if end.status != "tampered":
            guard.compare()
        raise
    guard.compare()
    if judge.count == 0:
        return "not_run", 0, "no checks found in %s" % file_name
    return "passed", judge.count, ""


def main():
    global started
    request_fd, record_fd = int(sys.argv[1]), hide(int(sys.argv[2]))
    sys.argv[:] = [""]
    fields = read_request(request_fd)
    # No frame holds it as a value while code under test runs.
    nonce = iter(fields[:1]).__next__
    style, program, entry, module, file_name, text = fields[1:7]
    del fields
    watch = Watch(file_name)
    verify = watch.verify

    def started():
        write(record_fd, b"started\n")
        watch.seal(globals())
        watch.is_on = True

    try:
        status, checks, message = trial(style, program, entry or None, module, file_name, text)
    except End as end:
        status, checks, message = end.status, 0, end.message
    except BaseException as error:
        status, checks, message = "error", 0, "the tests could not be run: %s" % show_error(error)
    if watch.is_on:
        verify()
    watch.is_on = False
    if watch.caught:
        status, checks, message = "tampered", 0, watch.caught
    report(record_fd, nonce(), status, checks, message)


