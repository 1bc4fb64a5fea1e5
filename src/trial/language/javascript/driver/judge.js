// Runs the tests against stand-ins for the program's names; the program itself is in another process, the worker. Reports once.
const argv = process.argv.slice(1).map(Number);
const [requestFd, recordFd, inputFd, outputFd] = argv;
const request = parse(fs.readFileSync(requestFd, 'utf8'));
const isShared = request.style === 'shared';
const write = fs.writeSync.bind(fs, recordFd);
const leave = process.reallyExit.bind(process);
checks.file = request.testsFile;
checks.lines = request.tests.split('\n');
process.argv.splice(2);
write('started\n');

function report(status, message = '') {
    write(`${stringify({ nonce: request.nonce, status, checks: checks.count, message: `${message}`.slice(0, 2000) })}\n`);
    leave(0);
}

// What the report begins with when the worker is gone: the reason is known outside only.
class Gone extends Error {}

const line = new Line(inputFd, outputFd);
const codec = new Codec(standIn, false);

function exchange(message) {
    line.send(message);
    return reply();
}

function reply() {
    for (;;) {
        const message = line.receive();
        if (message === undefined) report('gone');
        if (message[0] !== 'callback') return message;
        let outcome;
        try {
            const args = message[2].map((item) => codec.decode(item));
            outcome = ['return', codec.encode(codec.mine.get(message[1])(...args))];
        } catch (error) {
            // No way to one process leads through what the code under test does: it chose to make this call.
            outcome = ['raise', codec.encode(error instanceof Error ? error : new Error(show(error)))];
        }
        line.send(outcome);
    }
}

// The value of a reply, or what it throws.
function settle([kind, value, at]) {
    switch (kind) {
        case 'value': return codec.decode(value);
        case 'absent': return undefined;
        case 'throw': {
            const error = codec.decode(value);
            FOREIGN.set(Object(error), at ?? undefined);
            throw error;
        }
        // For the same reason this is a failed check, and no way to one process either.
        case 'lost': throw new Error(`the program gave ${value}, which cannot be passed on`);
        case 'stuck': throw new Error('a promise of the program was never settled');
    }
    throw new Error('the program sent something that cannot be read');
}

// Errors of the program, and the lines they came from.
const FOREIGN = new WeakMap();

function encoded(values) {
    try {
        return values.map((value) => codec.encode(value));
    } catch (error) {
        return report('shared', error.message);
    }
}

function invoke(verb, id, self, args) {
    const passed = encoded(args);
    const outcome = exchange([verb, id, verb === 'call' ? encoded([codec.origins.has(self) ? self : undefined])[0] : null, passed]);
    const changed = outcome.pop();
    if (!isArray(changed)) return settle(outcome);
    for (const [i, code] of changed) become(args[i], codec.decode(code));
    if (outcome[0] === 'same') return args[outcome[1]];
    return settle(outcome);
}

const keyName = (key) => (typeof key === 'string' ? key : `@@${`${key.description}`.replace(/^Symbol\./, '')}`);
const KNOWN = new Set(['@@iterator', '@@asyncIterator', '@@toPrimitive', '@@toStringTag']);
const reaches = (key) => typeof key === 'string' || KNOWN.has(keyName(key));

// What represents a function, an object of a class or a promise of the worker.
function standIn(id, kind) {
    if (kind === 'promise') {
        return new Promise((resolve, reject) => setImmediate(() => {
            try {
                resolve(settle(exchange(['await', id])));
            } catch (error) {
                reject(error);
            }
        }));
    }
    const target = kind === 'f' ? function () {} : {};
    const get = (verb, key) => settle(exchange([verb, id, keyName(key)]));
    return new Proxy(target, {
        apply: (_, self, args) => invoke('call', id, self, args),
        construct: (_, args) => invoke('new', id, undefined, args),
        get: (_, key) => {
            if (!reaches(key)) return undefined;
            if (kind === 'f' && (key === 'call' || key === 'apply' || key === 'bind')) return Function.prototype[key];
            return get('get', key);
        },
        set: (_, key, value) => reaches(key) && exchange(['set', id, keyName(key), encoded([value])[0]])[1] === true,
        has: (_, key) => reaches(key) && get('has', key),
        deleteProperty: (_, key) => reaches(key) && get('delete', key) === true,
        ownKeys: () => {
            const keys = settle(exchange(['keys', id]));
            const own = Reflect.ownKeys(target).filter((key) => !Object.getOwnPropertyDescriptor(target, key).configurable);
            return [...new Set([...own, ...(isArray(keys) ? keys.map(String) : [])])];
        },
        getOwnPropertyDescriptor: (_, key) => {
            const fixed = Object.getOwnPropertyDescriptor(target, key);
            if (fixed && !fixed.configurable) return fixed;
            const found = reaches(key) ? get('owns', key) : undefined;
            return found && { value: found[1], enumerable: found[0] === true, writable: true, configurable: true };
        },
        getPrototypeOf: () => get('proto', '') ?? (kind === 'f' ? Function.prototype : Object.prototype),
    });
}

// ---- the tests -----------------------------------------------------------------------------------------------------------

let local;
const named = new Map();

// The program's value of a name; `undefined` in a box of its own.
function nameOf(name) {
    if (!named.has(name)) {
        let box;
        if (isShared) {
            try { box = { value: local.name(name) }; } catch { /* there is none */ }
        } else {
            const outcome = exchange(['name', name]);
            box = outcome[0] === 'absent' ? undefined : { value: settle(outcome) };
        }
        named.set(name, box);
    }
    return named.get(name);
}

// The function under test; a method is reached through its class or object.
function entry() {
    const [first, ...rest] = request.entry?.split('.') ?? [];
    const box = first && nameOf(first);
    return { of: box?.value, value: rest.reduce((thing, part) => thing?.[part] ?? thing?.prototype?.[part], box?.value) };
}

const words = [...new Set(request.tests.match(/[A-Za-z_$][\w$]*/g) ?? [])];

// What `require` or `import` of the program gives.
let program;
function programExports() {
    if (program === undefined) {
        const whole = isShared ? (() => { const v = local.exports(); return v === undefined ? undefined : { value: v }; })()
            : (() => { const o = exchange(['exports']); return o[0] === 'absent' ? undefined : { value: settle(o) }; })();
        program = whole?.value;
        if (program === undefined) {
            program = {};
            for (const word of words) {
                const box = OWN.has(word) ? undefined : nameOf(word);
                if (box) program[word] = box.value;
            }
        }
    }
    return program;
}

function programModule() {
    const whole = programExports();
    const exports = { __proto__: null, default: typeof whole === 'function' ? whole : whole.default ?? entry().of ?? whole };
    for (const word of words) {
        if (word !== 'default' && (typeof whole === 'function' ? false : Object.hasOwn(whole, word))) exports[word] = whole[word];
    }
    return exports;
}

const tests = [];
let group = { names: [], before: [], after: [], beforeEach: [], afterEach: [], parent: null };

function addTest(...args) {
    const body = args.find((arg) => typeof arg === 'function');
    const options = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
    if (!body || options.skip || options.todo) return;
    tests.push({ name: [...group.names, typeof args[0] === 'string' ? args[0] : body.name || 'a test'].join(' > '), body, group });
}
function addGroup(...args) {
    const body = args.find((arg) => typeof arg === 'function');
    const name = typeof args[0] === 'string' ? args[0] : '';
    const outer = group;
    group = { names: [...outer.names, name], before: [], after: [], beforeEach: [], afterEach: [], parent: outer };
    try {
        body?.();
    } finally {
        group = outer;
    }
}
const nothing = () => {};
const each = (add) => (table) => (name, body) => table.forEach((row, i) => {
    const values = isArray(row) ? row : [row];
    add(`${name} #${i + 1}`, () => body(...values));
});
for (const add of [addTest, addGroup]) Object.assign(add, { skip: nothing, todo: nothing, only: add, each: each(add), concurrent: add });
const hook = (list) => (body) => { group[list].push(body); };
const harness = {
    __proto__: null,
    test: addTest, it: addTest, describe: addGroup, suite: addGroup,
    before: hook('before'), beforeAll: hook('before'), after: hook('after'), afterAll: hook('after'),
    beforeEach: hook('beforeEach'), afterEach: hook('afterEach'),
};
const testModule = Object.assign((...args) => addTest(...args), addTest, harness, { default: addTest });
const framework = { __proto__: null, ...harness, expect, assert };

const MODULES = {
    __proto__: null, assert, 'assert/strict': strictAssert, test: testModule,
};
const FRAMEWORKS = new Set(['@jest/globals', 'vitest']);

function provide(specifier) {
    const bare = specifier.replace(/^node:/, '');
    if (MODULES[bare]) return MODULES[bare];
    if (FRAMEWORKS.has(specifier)) return framework;
    if (builtin(specifier)) return require(specifier);
    if (/^\.{0,2}\//.test(specifier) || specifier === request.module) return programExports();
    throw new Error(`the tests need the module '${specifier}', which is not available here`);
}

function exportsFor(specifier) {
    const exports = provide(specifier);
    if (exports === program) return programModule();
    return exports.default === undefined || typeof exports === 'function' ? { ...exportsOf(exports), ...(exports === testModule ? harness : {}) } : { ...exports };
}

const OWN = new Set([...Object.keys(framework), 'require', 'module', 'exports', '__filename', '__dirname', 'console', 'process',
    ...Object.getOwnPropertyNames(globalThis)]);
OWN.delete(request.entry?.split('.')[0]);

function context(test) {
    const sub = async (...args) => {
        const body = args.find((arg) => typeof arg === 'function');
        await body?.(context(test));
    };
    return { name: test.name, assert, test: sub, diagnostic: nothing, plan: nothing, skip: nothing, todo: nothing };
}

async function runTests() {
    const opened = [];
    const chain = (of) => (of === null ? [] : [...chain(of.parent), of]);
    let first;
    for (const test of tests) {
        const groups = chain(test.group);
        try {
            for (const each of groups) {
                if (!opened.includes(each)) {
                    opened.push(each);
                    for (const body of each.before) await called(body);
                }
            }
            for (const each of groups) for (const body of each.beforeEach) await called(body);
            await called(test.body, context(test));
            for (const each of groups.reverse()) for (const body of each.afterEach) await called(body);
        } catch (error) {
            first ??= `${test.name}: ${told(error)}`;
        }
    }
    for (const each of opened.reverse()) for (const body of each.after) await called(body);
    if (first !== undefined) report('failed', first);
}

// Calls a test; one that takes a second argument, or a single one named `done`, ends when it calls that.
function called(body, argument) {
    const takesDone = /^(async\s*)?(function\b[^(]*)?\(?\s*done\s*[),=]/.test(Function.prototype.toString.call(body));
    if (!takesDone) return body(argument);
    return new Promise((resolve, reject) => body((error) => (error ? reject(error) : resolve())));
}

// The sentence for whatever was thrown.
function told(error) {
    if (error?.isUnmet) return error.message;
    const { where } = place(error ?? {});
    const name = typeof error?.name === 'string' ? error.name : 'an exception';
    const message = typeof error?.message === 'string' ? error.message : show(error);
    const line = lineOf(error ?? {}, checks.file);
    const statement = line === undefined ? undefined : checks.lines[line - 1]?.trim();
    return statement ? `${statement} raised ${name}: ${message} ${where}` : `${name}: ${message} ${where}`;
}

function fromWithin(error) {
    const line = FOREIGN.get(Object(error)) ?? lineOf(error ?? {}, request.file);
    const name = typeof error?.name === 'string' ? error.name : 'Error';
    return `${name}: ${error?.message ?? show(error)}${line === undefined ? '' : ` (line ${line})`}`;
}

let isDone = false;
process.on('beforeExit', () => {
    if (!isDone) report('failed', 'a promise that a test waits for was never settled');
});

async function main() {
    const isModule = isEsModule(request.tests, request.testsFile);
    const names = ['exports', 'require', 'module', '__filename', '__dirname'];
    if (request.style === 'parse') {
        try {
            if (isModule) new vm.SourceTextModule(request.tests, { identifier: request.testsFile });
            else vm.compileFunction(request.tests, names, { filename: request.testsFile });
        } catch (error) {
            const line = lineOf(error, checks.file);
            report('error', `${request.testsFile}${line === undefined ? '' : `, line ${line}`}: ${error.name}: ${error.message}`);
        }
        checks.count = 1;
        report('passed');
    }
    try {
        if (isShared) local = await load(request.types ? withoutTypes(request.program) : request.program, request.file);
        else settle(reply());
    } catch (error) {
        report('error', fromWithin(error));
    }
    for (const [name, value] of Object.entries(framework)) defineProperty(globalThis, name, { value, writable: true, configurable: true });
    for (const word of words) {
        const box = OWN.has(word) ? undefined : nameOf(word);
        if (box) defineProperty(globalThis, word, { value: box.value, writable: true, configurable: true });
    }
    const text = request.types ? withoutTypes(request.tests) : request.tests;
    const ticking = isShared ? undefined : setInterval(() => exchange(['turn']), 5);
    ticking?.unref();
    let check;
    try {
        if (isModule) {
            programExports();
            const module = await linked(text, request.testsFile, exportsFor);
            await module.evaluate();
        } else {
            const module = { exports: {} };
            const peek = ';return typeof check === "function" ? check : undefined;';
            const plain = text.replace(/^#!.*/, '');
            const run = vm.compileFunction(`${plain}\n${peek}`, names, { filename: request.testsFile });
            check = run.call(module.exports, module.exports, provide, module, request.testsFile, '.');
        }
        const callsCheck = /^(await\s+)?check\s*\(/m.test(request.tests);
        if (typeof check === 'function' && !callsCheck && request.entry) await check(entry().value);
    } catch (error) {
        const isOwn = error?.isUnmet || checks.count > 0 || FOREIGN.has(Object(error));
        report(isOwn ? 'failed' : 'error', isOwn ? told(error) : `tests file ${request.testsFile}: ${told(error)}`);
    }
    await runTests();
    isDone = true;
    if (checks.count === 0) report('not_run', `no checks found in ${request.testsFile}`);
    report('passed');
}

process.on('uncaughtException', (error) => report('failed', told(error)));
process.on('unhandledRejection', (error) => report('failed', told(error)));
main();
