//! Uses in code in JavaScript and TypeScript that no function needs.

use crate::trial::suspicious::{Kind, Table};

pub const USES: Table = &[
    (
        Kind::Frames,
        "prepareStackTrace, arguments . callee, arguments . caller, callee . caller, getFunction, \
         getThis (",
    ),
    (Kind::Heap, "import:inspector, getHeapSnapshot, writeHeapSnapshot, queryObjects, setFlagsFromString"),
    (Kind::Inside, "process . binding, _linkedBinding, dlopen, constructor . constructor"),
    (Kind::OwnProcess, "~/proc"),
    (Kind::Exit, "process . exit, process . abort, reallyExit, process . kill, _kill, Deno . exit, Deno . kill"),
    (Kind::Leave, "exitCode"),
    (
        Kind::Framework,
        "asymmetricMatch, expect . extend, expect . setState, getHarness, process . _events, \
         addEqualityTesters, jest ., vi . mock, vi . fn, vi . spyOn, __vitest*, ~vitest, ~JEST_, \
         ~jest-, ~$$jest, _load, _extensions, require . cache, process . mainModule, mock . module, \
         Bun . plugin, Bun . jest, Deno . test",
    ),
    (
        Kind::Tests,
        "import:test, import:vitest, import:@jest/globals, import:mocha, import:tape, import:uvu, \
         import:chai, ^describe (, ^it (, ^beforeEach (, ^afterEach (, ^beforeAll (, ^afterAll (",
    ),
    (
        Kind::Hooks,
        "process . on, process . once, process . emit, process . emitWarning, FinalizationRegistry, \
         import:async_hooks, import:diagnostics_channel, process . addListener",
    ),
    (Kind::Detects, "JEST_WORKER_ID, VITEST, NODE_TEST_CONTEXT"),
    (Kind::Native, "import:v8, import:ffi, import:wasi, WebAssembly, import:worker_threads, Deno . dlopen"),
    (Kind::Environment, "process . env, process . argv, process . execArgv, Deno . env, Bun . env"),
    (Kind::Processes, "import:child_process, import:cluster, Deno . Command, Bun . spawn, Bun . spawnSync"),
    (
        Kind::Network,
        "import:net, import:http, import:https, import:http2, import:dgram, import:dns, import:tls, \
         ^fetch (, WebSocket, XMLHttpRequest",
    ),
    (
        Kind::Files,
        "import:fs, Bun . file, Bun . write, Deno . open*, Deno . read*, Deno . write*, \
         Deno . remove*",
    ),
    (
        Kind::Computed,
        "^eval (, new Function, = Function, globalThis [, global [, window [, process [, \
         Reflect . get, import:vm, import:module, import:process, = process ;, } = process, \
         getBuiltinModule, GeneratorFunction",
    ),
    (
        Kind::Equality,
        "valueOf, Symbol . toPrimitive, Symbol . hasInstance, new Proxy, Symbol . species, \
         __proto__, 'valueOf', nodejs . util . inspect . custom",
    ),
];
