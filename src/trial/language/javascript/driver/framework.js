// The functions that tests are written with, those of node:test, Jest, Vitest and Mocha, and what runs them.

const tests = [];
let skipped = 0;
const newGroup = (names, parent) => ({ names, parent, before: [], after: [], beforeEach: [], afterEach: [], isSkipped: parent?.isSkipped ?? false, isOnly: parent?.isOnly ?? false });
const outermost = newGroup([], null);
let group = outermost;
let hasOnly = false;
let isFailing = false;

const nameOfTest = (args, body) => {
    const [first] = args;
    return typeof first === 'string' || typeof first === 'number' ? `${first}` : typeof first === 'function' && first.name ? first.name : body?.name || 'a test';
};

function addTest(mode, args) {
    const body = args.find((arg, i) => typeof arg === 'function' && (i > 0 || args.length === 1 || typeof args[1] !== 'function'));
    const options = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
    const isOnly = mode === 'only' || Boolean(options.only) || group.isOnly;
    if (mode === 'only' || options.only) hasOnly = true;
    const isSkipped = !body || mode === 'skip' || mode === 'todo' || Boolean(options.skip) || Boolean(options.todo) || group.isSkipped;
    tests.push({ name: [...group.names, nameOfTest(args, body)].filter(Boolean).join(' > '), body, group, isOnly, isSkipped, fails: mode === 'fails' || Boolean(options.fails) });
}

function addGroup(mode, args) {
    const body = args.find((arg, i) => typeof arg === 'function' && (i > 0 || args.length === 1));
    const options = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
    const outer = group;
    group = newGroup([...outer.names, typeof args[0] === 'string' ? args[0] : typeof args[0] === 'function' ? args[0].name : ''], outer);
    group.isSkipped ||= mode === 'skip' || mode === 'todo' || Boolean(options.skip) || Boolean(options.todo);
    if (mode === 'only' || options.only) hasOnly = group.isOnly = true;
    try {
        if (body) apply(body, surroundings, [{ name: group.names.at(-1) }]);
    } finally {
        group = outer;
    }
}

// `%s` and `$name` in the name of a test of a table.
function filled(name, values, i) {
    let at = 0;
    const text = `${name}`.replace(/%([sdifjopc#$%])/g, (whole, kind) => {
        if (kind === '%') return '%';
        if (kind === '#' || kind === '$') return `${i + (kind === '$' ? 1 : 0)}`;
        if (at >= values.length) return whole;
        const value = values[at++];
        return kind === 's' ? (typeof value === 'string' ? value : show(value)) : kind === 'j' ? stringify(value) : typeof value === 'string' && kind !== 'p' ? value : show(value);
    });
    const row = values[0];
    return Object(row) === row ? text.replace(/\$([\w$.]+)/g, (whole, path) => {
        const found = atPath(row, path);
        return found === undefined ? whole : typeof found.value === 'string' ? found.value : show(found.value);
    }) : text;
}

// Tables: rows, or a template whose first line names the columns.
function rowsOf(table, values) {
    if (!isArray(table) || table.raw === undefined) return [...table].map((row) => (isArray(row) ? row : [row]));
    const columns = table[0].split('|').map((word) => word.trim()).filter(Boolean);
    const rows = [];
    for (let i = 0; i < values.length; i += columns.length) rows.push([Object.fromEntries(columns.map((column, j) => [column, values[i + j]]))]);
    return rows;
}

function adder(add) {
    const make = (mode) => {
        const one = (...args) => { add(mode, args); };
        const each = (spread) => (table, ...values) => (name, ...rest) => rowsOf(table, values).forEach((row, i) => {
            const options = rest.find((arg) => typeof arg === 'object' && arg !== null);
            const body = rest.find((arg) => typeof arg === 'function');
            const takes = spread ? row : [row.length === 1 ? row[0] : row];
            const bound = body && (takesDone(body) && body.length > takes.length ? (_, done) => body(...takes, done) : () => body(...takes));
            add(mode, [filled(name, row, i), ...(options ? [options] : []), ...(bound ? [bound] : [])]);
        });
        return Object.assign(one, { each: each(true), for: each(false) });
    };
    const all = make('');
    for (const mode of ['skip', 'only', 'todo', 'fails']) all[mode] = make(mode);
    all.failing = all.fails;
    all.only.failing = all.only;
    for (const name of ['concurrent', 'sequential', 'shuffle']) all[name] = all;
    all.skipIf = (isSo) => (isSo ? all.skip : all);
    all.runIf = (isSo) => (isSo ? all : all.skip);
    all.extend = () => all;
    return all;
}
const hook = (list) => (body) => { group[list].push(body); };

const test = adder(addTest);
const describeTests = adder(addGroup);
const hooks = {
    before: hook('before'), beforeAll: hook('before'), after: hook('after'), afterAll: hook('after'),
    beforeEach: hook('beforeEach'), afterEach: hook('afterEach'), setup: hook('beforeEach'), teardown: hook('afterEach'),
    onTestFinished: (body) => { finishing.push(body); }, onTestFailed: () => {},
};
let finishing = [];
const harness = {
    __proto__: null, test, it: test, specify: test, describe: describeTests, suite: describeTests, context: describeTests,
    xtest: test.skip, xit: test.skip, fit: test.only, ftest: test.only, xdescribe: describeTests.skip, fdescribe: describeTests.only, xcontext: describeTests.skip, ...hooks,
};
const testModule = Object.assign((...args) => test(...args), test, {
    test, it: test, describe: describeTests, suite: describeTests, before: hooks.before, after: hooks.after, beforeEach: hooks.beforeEach, afterEach: hooks.afterEach,
    skip: test.skip, todo: test.todo, only: test.only, mock: nodeMocks, assert, snapshot: {}, run: () => {},
});
testModule.default = testModule;
const jest = { ...mockLibrary };
const vi = { ...mockLibrary };
const framework = { __proto__: null, ...harness, expect, assert, jest, vi };

// What a test of node's is given.
function context(of, state) {
    const name = of.name.split(' > ').at(-1);
    const own = { before: [], after: [], beforeEach: [], afterEach: [] };
    state.own = own;
    const sub = async (...args) => {
        const body = args.find((arg) => typeof arg === 'function');
        const options = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
        if (!body || options.skip || options.todo) {
            skipped++;
            return;
        }
        const inner = { name: `${of.name} > ${nameOfTest(args, body)}` };
        for (const each of own.beforeEach) await called(each, () => context(inner, {}));
        try {
            const below = {};
            await called(body, () => context(inner, below));
            for (const each of below.own?.after ?? []) await called(each);
        } catch (error) {
            fail(inner, error);
        }
        for (const each of own.afterEach) await called(each, () => context(inner, {}));
    };
    const skip = () => { state.isSkipped = true; };
    return {
        name, fullName: of.name, assert: Object.assign((...args) => assert(...args), assert), expect, task: { name }, test: Object.assign(sub, { skip: () => { skipped++; }, todo: () => { skipped++; } }),
        get signal() { return new AbortController().signal; },
        before: (body) => called(body), after: (body) => { own.after.push(body); }, beforeEach: (body) => { own.beforeEach.push(body); }, afterEach: (body) => { own.afterEach.push(body); },
        diagnostic: () => {}, plan: (count) => { state.planned = count; }, skip, todo: skip, runOnly: () => {}, mock: nodeMocks, onTestFinished: hooks.onTestFinished, waitFor: mockLibrary.waitFor,
    };
}

let first;
function fail(of, error) {
    first ??= `${of.name}: ${told(error)}`;
}

async function runTests() {
    const opened = [];
    const chain = (of) => (of === null ? [] : [...chain(of.parent), of]);
    const isLast = (i, each) => !tests.slice(i + 1).some((other) => !isLeft(other) && chain(other.group).includes(each));
    const isLeft = (of) => of.isSkipped || (hasOnly && !of.isOnly);
    for (const [i, of] of tests.entries()) {
        if (isLeft(of)) {
            skipped++;
            continue;
        }
        const groups = chain(of.group);
        const state = {};
        const begun = checks.count;
        let made;
        const attempt = async (body) => {
            try {
                await body();
                return true;
            } catch (error) {
                if (of.fails && error !== undefined) state.hasFailed = true;
                else fail(of, error);
                return false;
            }
        };
        expected = undefined;
        finishing = [];
        const isReady = await attempt(async () => {
            for (const each of groups) {
                if (opened.includes(each)) continue;
                opened.push(each);
                for (const body of each.before) await called(body);
            }
            for (const each of groups) for (const body of each.beforeEach) await called(body, () => context(of, state));
        });
        if (isReady) {
            await attempt(async () => {
                await called(of.body, () => (made ??= context(of, state)), of.group);
                const wanted = expected ?? state.planned;
                const count = checks.count - begun;
                if (wanted === true ? count === 0 : wanted !== undefined && count !== wanted) {
                    throw new Unmet(`${count} checks were made, and ${wanted === true ? 'at least one' : wanted} expected (${checks.file})`);
                }
            });
            for (const body of state.own?.after ?? []) await attempt(() => called(body));
            for (const body of finishing.reverse()) await attempt(() => called(body));
        }
        if (of.fails && !state.hasFailed) fail(of, new Unmet(`it should fail, and does not (${checks.file})`));
        if (state.isSkipped) skipped++;
        for (const each of [...groups].reverse()) for (const body of each.afterEach) await attempt(() => called(body, () => context(of, state)));
        for (const each of [...groups].reverse()) {
            if (!isLast(i, each)) continue;
            for (const body of each.after) await attempt(() => called(body));
        }
    }
    if (tests.length === 0) for (const body of [...outermost.before, ...outermost.after]) await called(body);
    if (first !== undefined) report('failed', first);
}

const takesDone = (body) => /^(async\s*)?(function\b[^(]*)?\(?\s*([\w{}\s]+,\s*)?(done|cb|callback|finish|next)\s*[),=]/.test(Function.prototype.toString.call(body)) && !types.isAsyncFunction(body);

// What Mocha's tests find in `this`.
const surroundings = Object.fromEntries(['timeout', 'slow', 'retries', 'skip'].map((name) => [name, function () { return this; }]));

// Calls a test; one that takes `done` ends when it calls that.
function called(body, argument = () => undefined) {
    if (!takesDone(body)) return awaited(apply(body, surroundings, [argument()]));
    return awaited(new Promise((resolve, reject) => {
        const done = (error) => (error ? reject(error) : resolve());
        done.fail = (error) => reject(error ?? new Error('the test called done.fail'));
        const result = apply(body, surroundings, body.length > 1 ? [argument(), done] : [done]);
        if (typeof result?.then === 'function') result.then(undefined, reject);
    }));
}
