# The driver: enters a copy of the user's project.

def bytes_of(fd, size):
    parts = []
    while size:
        parts.append(os.read(fd, min(size, 1 << 16)) or leave(3))
        size -= len(parts[-1])
    return b"".join(parts)


def request_of(fd):
    """The request: its length in ten digits, then as many bytes; more may follow."""
    return json.loads(bytes_of(fd, int(bytes_of(fd, 10))))


def adopt(real, copy, kept):
    """Has every path that leads to the project lead to its copy: search paths, and the finders of packages that are
    installed to be edited."""
    def moved(path):
        if type(path) is not str or not (path + os.sep).startswith(real + os.sep):
            return path
        if any((path + os.sep).startswith(folder + os.sep) for folder in kept):
            return path
        return copy + path[len(real):]

    def move_all(table):
        for key, value in list(table.items()):
            table[key] = [moved(path) for path in value] if isinstance(value, (list, tuple)) else moved(value)

    sys.path[:] = [moved(path) for path in sys.path if path]
    # If the project itself cannot be seen, Python has ignored the entries of these files for it.
    for folder in [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".pth"):
                with open(os.path.join(folder, name), errors="replace") as lines:
                    paths = [moved(line.strip()) for line in lines if line.startswith("/")]
                sys.path += [path for path in paths if path.startswith(copy) and path not in sys.path]
    for finder in sys.meta_path:
        cls = finder if isinstance(finder, type) else type(finder)
        home = vars(sys.modules.get(cls.__module__) or sys)
        tables = [home.get("MAPPING"), home.get("NAMESPACES"), getattr(finder, "_redirections", None)]
        for table in tables:
            if isinstance(table, dict):
                move_all(table)


def install(name, version, entry_points, here):
    """Says of the project in this folder what an installation says, unless it is installed."""
    def plain(entry):
        entry, ending = os.path.splitext(entry)
        return ending in (".dist-info", ".egg-info") and entry.partition("-")[0].replace("_", "-").replace(".", "-").lower()

    for folder in sys.path:
        if os.path.isdir(folder) and name in map(plain, os.listdir(folder)):
            return
    folder = os.path.join(here, "%s-%s.dist-info" % (name.replace("-", "_"), version))
    groups = ["[%s]\n%s\n" % (group, "\n".join(points)) for group, points in entry_points.items()]
    try:
        os.mkdir(folder)
        with open(os.path.join(folder, "METADATA"), "w") as out:
            out.write("Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
        with open(os.path.join(folder, "entry_points.txt"), "w") as out:
            out.write("\n".join(groups))
    except OSError:
        pass  # The code says that it does not find its version.


def enter(request):
    """Makes the copy the project that Python sees, here and in programs that it starts; returns its folder."""
    here = os.getcwd()
    adopt(request["root"], request["copy"], request["kept"])
    sys.path[:0] = [here, os.path.join(here, "src")]
    if not request["lone"]:
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path.startswith(request["copy"]))
    if request["distribution"]:
        install(here=here, **request["distribution"])
    return os.path.realpath(request["copy"])
