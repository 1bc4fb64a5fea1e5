# The driver: imports the file with the candidate.
from importlib import util


def module_of(path):
    """Imports the module of a file by its full name."""
    parts, folder = [os.path.splitext(os.path.basename(path))[0]], os.path.dirname(os.path.abspath(path))
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    __import__(name)
    module = sys.modules[name]
    # If a library has the same name, the file is meant.
    if os.path.realpath(getattr(module, "__file__", None) or "") != os.path.realpath(path):
        spec = util.spec_from_file_location(name, path)
        module = sys.modules[name] = util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module
