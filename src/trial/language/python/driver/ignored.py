# The driver: options for missing pytest plugins. Only options that measure, report, repeat or distribute
# tests are listed: without them the same tests run with the same results.
IGNORED_FLAGS = """
    --cov-append --cov-branch --cov-reset --no-cov --no-cov-on-fail --no-loadscope-reorder
    --timeout-disable-debugger-detection --randomly-dont-reset-seed --randomly-dont-reorganize --random-order
    --benchmark-disable --benchmark-skip --benchmark-autosave --benchmark-verbose --benchmark-quiet
    --self-contained-html --force-sugar --instafail --error-for-skips --codspeed --clean-alluredir
    --mypy --mypy-ignore-missing-imports --ruff --ruff-format --flake8 --pycodestyle --pydocstyle --pylint --black --isort
    --disable-socket --allow-unix-socket
""".split()
IGNORED_VALUES = """
    --cov-report --cov-config --cov-context --cov-fail-under --cov-precision
    -n --numprocesses --maxprocesses --maxschedchunk --dist --tx --max-worker-restart
    --timeout --timeout-method --timeout_method --session-timeout --randomly-seed
    --random-order-bucket --random-order-seed --reruns --reruns-delay --only-rerun --rerun-except
    --benchmark-columns --benchmark-sort --benchmark-group-by --benchmark-min-rounds --benchmark-warmup
    --html --alluredir --typeguard-packages --mypy-config-file --pylint-rcfile --asyncio-mode --allow-hosts
""".split()


def take_ignored(parser, args):
    """Makes options known to pytest that would end it, as no plugin has asked for them."""
    names = {option.partition("=")[0] for option in parser.parse_known_and_unknown_args(args)[1]}
    # `-n4` is `-n 4`.
    names |= {"-n"} if any(name[:2] == "-n" and name[2:].isdigit() for name in names) else set()
    group = parser.getgroup("options of plugins that are not here")
    # Lower case letters are reserved by pytest, except for the internal call.
    add = getattr(group, "_addoption", group.addoption)
    for name in names:
        if name == "--cov":
            add(name, nargs="?", action="append")
        elif name in IGNORED_FLAGS:
            add(name, action="store_true")
        elif name in IGNORED_VALUES:
            add(name, action="append")
