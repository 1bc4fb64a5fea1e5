//! Uses in code in JavaScript and TypeScript that no function needs.

use crate::code::Word;
use crate::trial::suspicious::{self, Imports, Kind, SETTINGS, Table, Uses, holds, path};

pub const TABLE: Table = Table { uses: USES, imports, patches, paths: |_| Vec::new(), has_members_by_text: true };

const USES: &[Uses] = &[
    (
        Kind::Frames,
        "prepareStackTrace, arguments . callee, arguments . caller, callee . caller, getFunction, getThis (",
    ),
    (Kind::Heap, "import:inspector, getHeapSnapshot, writeHeapSnapshot, queryObjects, setFlagsFromString"),
    (Kind::Inside, "process . binding, _linkedBinding, dlopen, constructor . constructor"),
    (Kind::OwnProcess, "~/proc"),
    (Kind::Exit, "process . exit, process . abort, reallyExit, process . kill, _kill, Deno . exit, Deno . kill"),
    (Kind::Leave, "exitCode"),
    (
        Kind::Framework,
        "asymmetricMatch, expect . extend, expect . setState, getHarness, process . _events, addEqualityTesters, jest \
         ., vi . mock, vi . fn, vi . spyOn, __vitest*, ~vitest, ~JEST_, ~jest-, ~$$jest, _load, _extensions, require \
         . cache, process . mainModule, mock . module, Bun . plugin, Bun . jest, Deno . test",
    ),
    (
        Kind::Tests,
        "import:test, import:vitest, import:@jest/globals, import:mocha, import:tape, import:uvu, import:chai, \
         ^describe (, ^it (, ^beforeEach (, ^afterEach (, ^beforeAll (, ^afterAll (",
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
        "import:net, import:http, import:https, import:http2, import:dgram, import:dns, import:tls, ^fetch (, \
         WebSocket, XMLHttpRequest",
    ),
    (Kind::Files, "import:fs, Bun . file, Bun . write, Deno . open*, Deno . read*, Deno . write*, Deno . remove*"),
    (
        Kind::Computed,
        "^eval (, new Function, = Function, globalThis [, global [, window [, process [, Reflect . get, import:vm, \
         import:module, import:process, = process ;, } = process, getBuiltinModule, GeneratorFunction",
    ),
    (
        Kind::Equality,
        "valueOf, Symbol . toPrimitive, Symbol . hasInstance, new Proxy, Symbol . species, __proto__, 'valueOf', \
         nodejs . util . inspect . custom",
    ),
];

/// Objects that all code of JavaScript shares.
const GLOBALS: &str = "Object Array String Number Boolean Map Set WeakMap WeakSet Promise Function RegExp Date Error \
    TypeError RangeError Symbol JSON Math Reflect Proxy console process Buffer Intl BigInt Uint8Array \
    Float64Array assert expect";

fn imports(found: &mut Imports, words: &[Word]) {
    let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
    for (at, word) in words.iter().enumerate() {
        let Word::Text(module) = word else { continue };
        let module = ["node:", "bun:"].iter().find_map(|of| module.strip_prefix(of)).unwrap_or(module);
        let name = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).and_then(|word| word.name());
        let is_called = at > 0 && words[at - 1].is('(');
        let start = match (name(1), name(2)) {
            (Some("from" | "import"), _) => {
                words[..at].iter().rposition(|word| matches!(word.name(), Some("import" | "export")))
            }
            (_, Some("require" | "import" | "getBuiltinModule")) if is_called => {
                words[..at].iter().rposition(|word| matches!(word.name(), Some("const" | "let" | "var")))
            }
            _ => continue,
        };
        found.modules.push(module.to_owned());
        let start = start.filter(|start| at - start < 64).unwrap_or(at);
        let names: Vec<&str> = words[start..at].iter().filter_map(|word| word.name()).collect();
        for pair in names.windows(3) {
            if let [name, "as", own] = pair
                && *name != "import"
            {
                found.aliases.insert((*own).to_owned(), (*name).to_owned());
            }
        }
        let own = names
            .iter()
            .filter(|name| !["import", "const", "let", "var", "from", "require", "await", "as"].contains(name));
        found.bound.extend(own.map(|name| ((*name).to_owned(), module.to_owned())));
    }
}

fn patches(words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let is_shared = |name: &str| {
        let is_library = imports.bound.get(name).is_some_and(|module| !module.starts_with('.'));
        holds(GLOBALS, name) || is_library
    };
    for at in 0..words.len() {
        if at > 0 && words[at - 1].is('.') {
            continue;
        }
        let Some((path, after)) = path(&words[at..]) else { continue };
        let rest = &words[at + after..];
        let is_set = rest.first().is_some_and(|word| word.is('='))
            && !rest.get(1).is_some_and(|word| word.is('=') || word.is('>'));
        let last = path.last().copied().unwrap_or_default();
        if path.len() > 1 && is_set && !holds(SETTINGS, last) {
            if path.starts_with(&["process", "env"]) {
                found.push((Kind::Environment, format!("{} =", path.join("."))));
            } else if is_shared(path[0]) {
                found.push((Kind::Patch, format!("{} =", path.join("."))));
            } else if matches!(path[0], "globalThis" | "global" | "window") {
                let kind = if path.len() > 2 || is_shared(last) { Kind::Patch } else { Kind::Assign };
                found.push((kind, format!("{} =", path.join("."))));
            }
        }
        let defines = ["defineProperty", "defineProperties", "assign", "setPrototypeOf", "set"].contains(&last)
            && matches!(path[0], "Object" | "Reflect")
            && rest.first().is_some_and(|word| word.is('('));
        if defines
            && let Some((target, _)) = suspicious::path(&rest[1..])
            && (is_shared(target[0]) || matches!(target[0], "globalThis" | "global"))
        {
            found.push((Kind::Patch, format!("{}({})", path.join("."), target.join("."))));
        }
        let is_loading = path == ["require"] || path == ["import"];
        let is_given = !matches!(rest.get(1), Some(Word::Text(_) | Word::End) | None);
        if is_loading && rest.first().is_some_and(|word| word.is('(')) && is_given {
            found.push((Kind::Computed, path[0].to_owned()));
        }
    }
    found
}
