# The judge: one trial from the request to the record, with the code under test in another process.
FUNCTION_KINDS.append(Function)
ALIASES = {"np": "numpy", "pd": "pandas", "dt": "datetime", "plt": "matplotlib.pyplot"}


def wait_for_worker(line):
    """Waits until the worker's interpreter is up."""
    try:
        if line.receive() != ["ready"]:
            raise Broken
    except (Gone, Broken):
        raise End("gone", "the worker did not come up")


def load(line, program):
    """Has the worker load the program; returns the stand-in of its module."""
    answer = line.ask("load", program)
    if type(answer) is not list or len(answer) != 3:
        raise line.fault(Broken())
    loaded, candidate, names = answer
    if loaded is not True:
        error, at = candidate, names
        if error is None:
            raise End("error", "the code is empty")
        if isinstance(error, SyntaxError) and at is None:
            raise End("error", "line %s: %s: %s" % (error.lineno, class_name(type(error)), error.msg))
        raise End("error", "%s while loading%s" % (show_error(error), " (line %d)" % at if type(at) is int else ""))
    if type(candidate) is not Module or type(names) is not list or not all(type(name) is str for name in names):
        raise line.fault(Broken())
    line.candidate = candidate
    vars(candidate).update({"@names": frozenset(names), "__all__": [name for name in names if not name.startswith("_")]})
    return candidate


def namespace(line, candidate, entry, mentioned, stub):
    """What the tests see of the candidate: those of its names that they mention, but none that would hide a builtin from them."""
    space, first = {}, entry and entry.partition(".")[0]
    mentioned = mentioned | {first}
    for key in vars(candidate)["@names"]:
        if key not in mentioned or (key.startswith("__") and key.endswith("__")):
            continue
        if hasattr(builtins, key) and key != first:
            shadowed = getattr(builtins, key)
            if entry is not None or (isinstance(shadowed, type) and issubclass(shadowed, BaseException)):
                continue
        try:
            value = line.ask("get", candidate, key)
        except AttributeError:
            continue
        if type(value) is Module:
            value = own_module(key, value)
        elif type(value) in (list, dict, set):
            number = line.ask("tie", candidate, key)
            if number is not None:
                line.tied[natural(number)] = value
        space[key] = value
    if entry is not None:
        own = own_things(stub, entry, space.get(first))
        share_classes(line, own)
        helpers = {name: helper for name, helper in own.items() if name in mentioned and not hasattr(builtins, name)}
        space.update(helpers)
        vars(candidate).update(helpers)
    space["__builtins__"] = builtins
    return space


def share_classes(line, own):
    """Lets objects of the user's own classes travel by value; classes that the program has no equal of stay with the worker."""
    classes = [name for name, thing in own.items() if isinstance(thing, type)]
    if not classes:
        return
    known = line.ask("own", classes)
    for name in classes:
        if type(known) is list and name in known:
            line.own_classes[name] = own[name]
            line.own_names[own[name]] = name
        else:
            del own[name]


def own_module(key, standin):
    """The judge's own module in the place of one that the code imported, if the name leaves no doubt which."""
    full = standin.__name__
    if full.rpartition(".")[2] == key or ALIASES.get(key) == full:
        try:
            __import__(full)
            return modules[full]
        except BaseException:
            pass
    return standin


def seed_both(line):
    """Gives the tests' random numbers a fixed start, and the code's the same one whenever the tests choose another."""
    random = modules.get("random")
    if random is not None:
        seed = random.seed
        seed(0)

        def seed_too(*args, **named):
            seed(*args, **named)
            line.ask("seed", args, named)

        random.seed = seed_too


def words(text):
    """Every word of a text."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def kinds_in(text):
    """The names of the classes in a module text, and its other top-level names."""
    tree = parse_open(text)
    if tree is None:
        return set(), set()
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    return classes, {name for node in tree.body for name in given_names(node)} - classes


def trial(line, fair, request, started):
    """Runs the trial; returns (status, checks, message)."""
    style, program, entry, module, file_name, text, stub = request
    entry = entry or None
    suite, sets = None, []
    judge = Judge(fair, file_name, text)
    if style == "doctest":
        sets = [examples for examples in example_sets(text, entry) if examples]
        if not sets:
            return "not_run", 0, "no `>>>` examples found"
        fair.named = frozenset(kinds_in(text)[0]) - {entry}
        source = "".join(example.source for examples in sets for example in examples)
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        reason = why_shared(tree, module, ())
    else:
        suite = Suite(file_name, text, fair, module)
        judge = suite.judge
        suite.prepare(fair)
        classes, others = kinds_in(stub)
        claimed = claimed_names(suite.tree, module, suite.missing) - others - {entry}
        fair.named = frozenset(name for name in claimed if name in classes or name[:1].isupper())
        reason = why_shared(suite.tree, module, suite.missing)
    if reason is not None:
        raise End("shared", reason)
    wait_for_worker(line)
    started()
    seed_both(line)
    candidate = load(line, program)
    modules["candidate"] = candidate
    space = namespace(line, candidate, entry, words(text), stub)
    if entry is not None:
        find(space, entry)
    if suite is not None:
        suite.run(candidate, space, entry)
    for examples in sets:
        run_examples(judge, examples, dict(space))
    fair.compare()
    if judge.count == 0:
        return "not_run", 0, "no checks found in %s" % file_name
    return "passed", judge.count, ""


def main():
    request_fd, record_fd, reading, writing = map(int, sys.argv[1:5])
    sys.argv[:] = [""]
    nonce, *request = read_request(request_fd)
    os.set_inheritable(record_fd, False)
    fair = Fair()
    line = Line(reading, writing, fair)

    def started():
        write(record_fd, b"started\n")

    try:
        status, checks, message = trial(line, fair, request, started)
    except End as end:
        status, checks, message = end.status, 0, end.message
    except BaseException as error:
        status, checks, message = "error", 0, "the tests could not be run: %s" % show_error(error)
    # What the tests swallowed counts all the same.
    if line.broken is not None and (status == "passed" or line.broken.status in ("tampered", "gone", "shared")):
        status, checks, message = line.broken.status, 0, line.broken.message
    os.close(reading)
    os.close(writing)
    report(record_fd, nonce, status, checks, message)


main()
