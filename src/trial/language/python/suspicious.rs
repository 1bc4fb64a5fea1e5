//! Uses in code in Python that no function needs.

use crate::trial::suspicious::{Kind, Table};

pub const USES: Table = &[
    (
        Kind::Frames,
        "_getframe, _getframemodulename, _current_frames, _current_exceptions, f_back, f_locals, \
         f_globals, f_builtins, tb_frame, gi_frame, cr_frame, ag_frame, currentframe, \
         getouterframes, getinnerframes, getframeinfo, walk_stack, walk_tb, settrace, setprofile, \
         addaudithook, inspect . stack, inspect . trace, sys . monitoring, get_stack",
    ),
    (Kind::Traces, "__traceback__, exc_info, last_traceback, last_exc"),
    (Kind::Heap, "get_objects, get_referrers, get_referents"),
    (Kind::Inside, "__globals__, __closure__, cell_contents, __builtins__, getclosurevars"),
    (Kind::OwnProcess, "~/proc"),
    (
        Kind::Exit,
        "_exit, os . abort, raise_signal, pthread_kill, execv, execve, execvp, execvpe, execl, \
         execle, execlp, execlpe",
    ),
    (Kind::Leave, "sys . exit, SystemExit, ^quit (, ^exit (, KeyboardInterrupt ("),
    (Kind::Skip, "SkipTest, skipTest, pytest . skip, pytest . xfail, pytest . exit, importorskip, pytestmark"),
    (
        Kind::Framework,
        "import:_pytest, pytest_*, hookimpl, pluginmanager, addSuccess, addSkip, addFailure, \
         addExpectedFailure, TestResult, TestLoader, import:unittest.case, import:unittest.result, \
         import:unittest.loader, import:unittest.runner, import:unittest.suite, import:doctest, \
         import:conftest, import:pluggy",
    ),
    (Kind::Tests, "import:unittest, import:pytest"),
    (Kind::Hooks, "import:atexit, __del__, weakref . finalize, signal . signal, setitimer, excepthook"),
    (Kind::Detects, "PYTEST_CURRENT_TEST"),
    (Kind::Native, "import:ctypes, import:_ctypes, import:cffi, import:mmap, import:gc, import:faulthandler"),
    (Kind::Raw, "pythonapi, PyDLL, from_address, string_at, py_object, memmove"),
    (Kind::Inside, "object . __subclasses__, type . __subclasses__, __base__, __mro__ [, __bases__ ["),
    (Kind::Environment, "environ, environb, getenv, putenv, sys . argv"),
    (
        Kind::Processes,
        "import:subprocess, import:multiprocessing, os . system, os . popen, os . fork, forkpty, \
         posix_spawn, os . kill, import:pty",
    ),
    (
        Kind::Network,
        "import:socket, import:urllib.request, import:http, import:requests, import:httpx, \
         import:aiohttp, import:ftplib, import:smtplib, open_connection",
    ),
    (
        Kind::Computed,
        "^eval (, ^exec (, ^compile (, __import__, import_module, ^globals (, ^vars (, attrgetter, \
         FunctionType, CodeType, __subclasses__, sys . modules, meta_path, import:builtins, \
         import:marshal, import:inspect, import:importlib",
    ),
    (Kind::Equality, "def __eq__, def __ne__, def __bool__, def __instancecheck__, def __class__, def __contains__"),
];
