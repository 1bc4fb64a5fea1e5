# The judge: one trial from the request to the record, with the code under test in another process.
FUNCTION_KINDS.append(Function)
ALIASES = {"np": "numpy", "pd": "pandas", "dt": "datetime", "plt": "matplotlib.pyplot"}


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


def namespace(line, candidate, entry, mentioned, mine, tree):
    """What the tests see beside their own: the user's, the judge's own library, and names that only the code has."""
    first = entry and entry.partition(".")[0]
    space, codes, own = {}, vars(candidate)["@names"], mine.things()
    if first in codes:
        tested = line.ask("get", candidate, first)
        if mine.is_method():
            # Nothing that the tests expect is told by asking for it.
            find({first: tested}, entry, lambda thing, name: line.ask("get", thing, name))
        else:
            mine.space[first] = tested
    share_classes(line, mine, own)
    used_as_modules = module_names(tree)
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    for key in sorted((mentioned | {first}) & codes):
        if key in own or (key.startswith("__") and key.endswith("__")) or (hasattr(builtins, key) and key != first):
            continue
        is_library = key != first and key in used_as_modules | called
        value = library_thing(key, key in used_as_modules) if is_library else None
        if value is None:
            try:
                value = line.ask("get", candidate, key)
            except AttributeError:
                continue
        space[key] = value
    for key in (mentioned & used_as_modules) - codes - set(own):
        value = library_thing(key, True)
        if value is not None:
            space[key] = value
    helpers = {name: thing for name, thing in own.items() if name in mentioned and not hasattr(builtins, name)}
    if entry is not None and mine.is_method() and first in own:
        helpers[first] = own[first]
    space.update(helpers)
    vars(candidate).update(helpers)
    vars(candidate)["__all__"] = [name for name in space if not name.startswith("_")]
    space["__builtins__"] = builtins
    return space


def share_classes(line, mine, own):
    """Lets objects of the user's own classes travel by value."""
    classes = {}
    for name, thing in own.items():
        if isinstance(thing, type) and class_module(thing) == HOME and class_flags(thing) & HEAP_TYPE:
            classes.update((path, cls) for path, cls in nested_classes(name, thing).items() if can_be_made(cls))
    if not classes:
        return
    counted = {name: mine.counted(name) for name in classes}
    known = line.ask("own", [[name, counted[name]] for name in classes])
    for name, cls in classes.items():
        if type(known) is list and name in known:
            line.add_own(name, cls, counted[name])


def can_be_made(cls):
    """Whether an object of a class can be made before it is filled."""
    own = Own(cls)
    try:
        return own.style in ("enum", "value") or bool(class_dict(cls).get("__abstractmethods__")) or own.maker(cls) is not None
    except Exception:
        return False


KNOWN = ("math", "itertools", "collections", "functools", "typing")


def module_names(tree):
    """The free names of which the tests use nothing but attributes."""
    nodes = list(ast.walk(tree))
    owners = [n.value for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    marked = set(map(id, owners))
    return {n.id for n in owners} - {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in marked} - bound_names(tree)


def library_thing(name, as_module):
    """What everybody means by a name that the tests forgot to import, or None."""
    if as_module:
        full = ALIASES.get(name, name)
        if is_standard(full) and full not in ("this", "antigravity", "test") or full == "numpy":
            try:
                __import__(full)
                return modules[full]
            except BaseException:
                return None
        return None
    for home in KNOWN:
        if home in modules or home in ("math", "itertools"):
            __import__(home)
            found = vars(modules[home]).get(name)
            if found is not None and not name.startswith("_") and type(found) is not ModuleType:
                return found
    return None


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


def trial(line, fair, request, started):
    """Runs the trial; returns (status, checks, message)."""
    style, program, entry, module, file_name, text, stub = request
    entry = entry or None
    suite, sets = None, []
    judge = Judge(fair, file_name, text)
    mine = Mine(stub, entry)
    if style == "doctest":
        sets = [examples for examples in example_sets(text, entry) if examples]
        if not sets:
            return "not_run", 0, "no `>>>` examples found"
        text = "".join(example.source for examples in sets for example in examples)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        missing = ()
    else:
        suite = Suite(file_name, text, fair, module)
        judge, tree = suite.judge, suite.tree
        suite.prepare(fair)
        missing = suite.missing
    claimed = claimed_names(tree, module, missing)
    line.judge, mentioned = judge, words(text)
    fair.named = frozenset(n for n in claimed - mine.classes - {entry} if n[:1].isupper() and not hasattr(builtins, n))
    reason = why_shared(tree, module, missing)
    mine.run(line)
    left = sorted(mine.left & mentioned)
    if reason is None and left:
        reason = "the tests use `%s` of your file, which leans on what only the code has" % left[0]
    if reason is not None:
        raise End("shared", reason)
    wait_for_worker(line)
    started()
    seed_both(line)
    candidate = load(line, program)
    modules["candidate"] = candidate
    if style == "doctest":
        as_imported(candidate, module)
    space = namespace(line, candidate, entry, mentioned, mine, tree)
    if entry is not None:
        find(space, entry)
    fair.begin()
    if suite is not None:
        suite.run(candidate, space, entry)
    for examples in sets:
        run_examples(judge, examples, dict(space))
    fair.compare()
    if judge.count == 0:
        return "not_run", 0, "no checks found in %s" % file_name
    if judge.count == judge.among_its_own:
        return "not_run", 0, "the checks in %s only hold what the code made against each other" % file_name
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


