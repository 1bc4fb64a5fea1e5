// Runs the tests against stand-ins for the program's names; the program itself is in another process, the
// worker. Reports once. The tests without types: what their words are is seen from that.
let testsText = request.tests, words, reach;

// ---- names

let local;
const named = new Map();
const [entryName, ...entryPath] = request.entry?.split('.') ?? [];
const util = require('node:util');
// Names of libraries that tests may have forgotten to import. The code must not define them instead.
const LIBRARIES = new Set([...Object.keys(util), ...Object.keys(assert), '_', 'lodash', 'chai', 'should', 'sinon', 'ramda', 'R', 'isEqual', 'deepEquals', 'isequal', 'supertest', 'request']);

function libraryName(name) {
    const of = [assert, util].find((each) => hasOwn(each, name));
    return of && { value: of[name] };
}

// The value of a name, in a box of its own: of the user's own file, or of the program.
function nameOf(name) {
    if (!named.has(name)) named.set(name, ownNames.has(name) ? { value: ownNames.get(name) } : programName(name));
    return named.get(name);
}

function programName(name) {
    if (isShared) {
        try {
            return { value: local.name(name) };
        } catch {
            return undefined;
        }
    }
    const isClass = words.classes.has(name);
    const box = exchange(['name', name, isClass], false);
    // A function that is only there says nothing yet; a constant does.
    if (box && typeof box.value !== 'function') checks.crossed = true;
    const handle = box && handleFor(box.value);
    if (handle) {
        (handle.names ??= []).push(name);
        if (isClass && typeof handle.target === 'function' && handle.target.prototype) namedMirrors.add(handle.target.prototype);
    }
    return box;
}

// The function under test; a method is reached through its class or object.
function entry() {
    const box = entryName && nameOf(entryName);
    return { of: box?.value, value: entryPath.reduce((thing, part) => thing?.[part] ?? thing?.prototype?.[part], box?.value) };
}

// ---- the user's own file, without the candidate

const ownNames = new Map();

// Helper functions and simple classes of the user's run here, where a candidate cannot replace them. Whatever
// of the file cannot be run here comes from the program.
function loadOwn() {
    if (isShared || !request.stub) return;
    let own, tokens;
    const printed = [console.log, console.info, console.warn, console.error, process.stdout.write];
    try {
        const text = request.types ? withoutTypes(request.stub) : request.stub;
        tokens = tokensOf(text);
        console.log = console.info = console.warn = console.error = process.stdout.write = () => {};
        // What is replaced must not be a constant.
        const open = entryName ? text.replace(new RegExp(`^(export\\s+)?const(?=\\s+${entryName.replace(/\$/g, '\\$')}\\b)`, 'm'), '$1let  ') : text;
        own = load(open, request.file, entryName);
        if (own.done !== undefined) own.done.catch(() => {});
    } catch {
        return;
    } finally {
        [console.log, console.info, console.warn, console.error, process.stdout.write] = printed;
    }
    const classes = classesOf(tokens);
    const isPlain = (name) => {
        const known = classes.get(name);
        if (!known?.isPlain) return false;
        return known.base === undefined || known.base in ERRORS || isPlain(known.base);
    };
    const find = (name) => {
        try {
            return own.name(name);
        } catch {
            return undefined;
        }
    };
    for (const name of classes.keys()) {
        const value = find(name);
        if (typeof value !== 'function' || !isPlain(name)) continue;
        if (name === entryName) {
            const holder = hasOwn(value.prototype, entryPath[0]) ? value.prototype : hasOwn(value, entryPath[0]) ? value : undefined;
            const member = holder && getOwnPropertyDescriptor(holder, entryPath[0]);
            if (entryPath.length !== 1 || typeof member?.value !== 'function' || entryPath[0] === 'constructor') continue;
            defineProperty(holder, entryPath[0], { ...member, value: function (...args) { return asked('method', request.entry, [this, ...args]); } });
        }
        ownClasses.set(name, value);
        ownPrototypes.set(value.prototype, name);
    }
    const declared = new Set(declarations(tokens));
    for (const name of declared) {
        const value = ownClasses.get(name) ?? (name === entryName || classes.has(name) ? undefined : find(name));
        if (value !== undefined) ownNames.set(name, value);
    }
    if (ownClasses.size > 0) exchange(['copied', [...ownClasses.keys()]]);
    // Helpers that call the function under test, or make objects of its class, get those of the program.
    for (const name of [entryName, ...classes.keys()]) {
        if (name === undefined || ownClasses.has(name) || !declared.has(name)) continue;
        const box = programName(name);
        if (box) try { own.assign(name, box.value); } catch { /* nobody can */ }
    }
}

// ---- modules

// What `require` or `import` of the program gives.
let program;
function programExports() {
    if (program !== undefined) return program;
    const whole = isShared ? local.exports() : exchange(['exports'], false)?.value;
    if (!isArray(whole) && whole !== undefined && !isShared) {
        const handle = handleFor(whole);
        if (handle) handle.names = ['exports', request.module, ...words.all].filter((name) => name !== undefined);
        if (handle && typeof whole === 'function' && words.free.size > 0) {
            const { prototype } = handle.target;
            const isClass = [...words.classes].some((word) => !(word in globalThis));
            if (isClass && prototype) {
                exchange(['name', 'module.exports', true]);
                namedMirrors.add(prototype);
            }
        }
        program = whole;
    } else if (isShared && whole !== undefined) program = whole;
    else {
        program = {};
        const names = whole ?? [...words.all].filter((word) => !OWN.has(word) || word === entryName);
        for (const name of names) {
            if (typeof name !== 'string') continue;
            // Those that the tests mention are asked for; others may be many.
            const box = words.all.has(name) || name === 'default' || whole !== undefined ? nameOf(name) : undefined;
            if (box) defineProperty(program, name, { value: box.value, writable: true, enumerable: true, configurable: true });
        }
    }
    return program;
}

function programModule() {
    const whole = programExports();
    const exports = { __proto__: null, default: typeof whole === 'function' ? whole : whole.default ?? entry().of ?? whole };
    for (const word of words.all) {
        if (word !== 'default' && (typeof whole === 'function' ? hasOwn(whole, word) : word in whole)) exports[word] = whole[word];
    }
    return exports;
}

const MODULES = { __proto__: null, assert, 'assert/strict': strictAssert, test: testModule };
const FRAMEWORKS = { __proto__: null, '@jest/globals': framework, vitest: { ...framework, assert: vitestAssert }, mocha: framework, 'bun:test': { ...framework, mock: mockFunction } };

function provide(specifier) {
    const bare = specifier.replace(/^node:/, '');
    if (MODULES[bare]) return MODULES[bare];
    if (FRAMEWORKS[specifier]) return FRAMEWORKS[specifier];
    if (builtin(specifier)) return require(specifier);
    if (/^\.{0,2}\//.test(specifier) || specifier === request.module) return programExports();
    throw new Error(`the tests need the module '${specifier}', which is not available here`);
}

function exportsFor(specifier) {
    const exports = provide(specifier);
    if (exports === program) return programModule();
    return typeof exports === 'function' || exports.default === undefined ? exportsOf(exports) : exports;
}

const OWN = new Set([...Object.keys(framework), 'require', 'module', 'exports', '__filename', '__dirname', 'console', 'process',
    ...Object.getOwnPropertyNames(globalThis)]);
OWN.delete(entryName);

// ---- what is said

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
    const at = FOREIGN.get(Object(error)) ?? lineOf(error ?? {}, request.file);
    const name = typeof error?.name === 'string' ? error.name : 'Error';
    return `${name}: ${error?.message ?? show(error)}${at === undefined ? '' : ` (line ${at})`}`;
}

let isDone = false;
process.on('beforeExit', () => {
    if (!isDone) report('failed', 'a promise that a test waits for was never settled');
});

function conclude() {
    isDone = true;
    for (const error of swallowed.keys()) report('failed', told(error));
    if (checks.count === 0) report('not_run', `no checks found in ${request.testsFile}`);
    if (checks.counted === 0 && !isShared) report('not_run', `no check in ${request.testsFile} looks at anything that the code gave`);
    report('passed', skipped === 0 ? '' : `${skipped} ${skipped === 1 ? 'test' : 'tests'} skipped`);
}

async function main() {
    const { testsFile } = request;
    if (request.style === 'parse') {
        try {
            compiled(request.tests, testsFile, isEsModule(request.tests, testsFile));
        } catch (error) {
            const at = lineOf(error, checks.file);
            report('error', `${testsFile}${at === undefined ? '' : `, line ${at}`}: ${error.name}: ${error.message}`);
        }
        checks.count = 1;
        report('passed');
    }
    let parseError;
    try {
        if (request.types) testsText = withoutTypes(request.tests);
    } catch (error) {
        parseError = error;
    }
    words = wordsOf(testsText);
    reach = reachOf(words.tokens, classesOf(words.tokens));
    if (!isShared && reach.shared) report('shared', reach.shared);
    try {
        if (isShared) {
            local = load(request.types ? withoutTypes(request.program) : request.program, request.file);
            await local.done;
        } else settle(receive(true), true);
    } catch (error) {
        report('error', fromWithin(error));
    }
    checks.crossed = isShared;
    if (!isShared && reach.watched.length > 0) exchange(['watched', reach.watched]);
    loadOwn();
    for (const [name, value] of Object.entries(framework)) defineProperty(globalThis, name, { value, writable: true, configurable: true });
    const free = [...words.free].filter((word) => !OWN.has(word) && !RESERVED.has(word));
    const known = new Set(isShared ? free : exchange(['names', free], false)?.value);
    for (const word of free) {
        const isForgotten = LIBRARIES.has(word) && word !== entryName && !ownNames.has(word);
        const box = isForgotten ? libraryName(word) : known.has(word) || ownNames.has(word) ? nameOf(word) : undefined;
        if (box) defineProperty(globalThis, word, { value: box.value, writable: true, configurable: true });
    }
    let check;
    try {
        if (parseError) throw parseError;
        const isModule = isEsModule(testsText, testsFile);
        const module = { exports: {} };
        const run = compiled(testsText, testsFile, isModule, ';return typeof check === "function" ? check : undefined;');
        const result = runText(run, testsFile, isModule, module, provide, exportsFor);
        if (isModule) await awaited(result);
        else check = result;
        const callsCheck = /^(await\s+)?check\s*\(/m.test(request.tests);
        if (typeof check === 'function' && !callsCheck && request.entry) await awaited(check(entry().value));
    } catch (error) {
        const isOwn = error?.isUnmet || checks.count > 0 || FOREIGN.has(Object(error));
        report(isOwn ? 'failed' : 'error', isOwn ? told(error) : `tests file ${testsFile}: ${told(error)}`);
    }
    await runTests();
    conclude();
}

process.on('uncaughtException', (error) => report('failed', told(error)));
// A promise that breaks before anybody waits for it ends node, but not Jest.
process.on('unhandledRejection', (error, promise) => {
    const isJest = words?.all.has('expect') && !/['"](vitest|(node:)?test)['"]/.test(testsText);
    if (!isJest || isChecked(error)) report('failed', told(error));
    promise.catch(() => {});
});
main();
