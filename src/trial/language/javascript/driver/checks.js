// Assertions that are counted and that say what they saw: `assert`, `console.assert`, `expect`.
const { inspect, isDeepStrictEqual } = require('node:util');
const realAssert = require('node:assert');

const checks = { count: 0, file: '', lines: [] };

function show(value) {
    let text;
    try {
        text = inspect(value, { breakLength: Infinity, depth: 6, maxArrayLength: 40, maxStringLength: 200 }).replace(/\s+/g, ' ');
    } catch {
        text = 'something that cannot be shown';
    }
    return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

// A sentence about a failed check.
class Unmet extends realAssert.AssertionError {
    constructor(sentence, inner) {
        super({ message: sentence, actual: inner?.actual, expected: inner?.expected, operator: inner?.operator });
        this.message = sentence;
        this.isUnmet = true;
    }
}

// The call that stands at a place in the tests file, and its first argument.
function callAt({ line, column }) {
    let text = '', depth = 0, quote = '', first, start;
    if (line === undefined || line > checks.lines.length) return undefined;
    const head = checks.lines[line - 1].slice(0, (column ?? 1) - 1);
    const expected = head.lastIndexOf('expect(');
    const from = expected >= 0 ? expected : head.length - head.match(/[\w$.]*$/)[0].length;
    for (let i = line - 1; i < Math.min(line + 20, checks.lines.length); i++) {
        const piece = checks.lines[i];
        for (let j = i === line - 1 ? from : 0; j < piece.length; j++) {
            const c = piece[j];
            if (quote) {
                if (c === '\\') { text += c; j++; } else if (c === quote) quote = '';
            } else if (c === '"' || c === '\'' || c === '`') quote = c;
            else if ('([{'.includes(c)) {
                depth++;
                if (depth === 1) start = text.length + 1;
            } else if (')]}'.includes(c)) {
                depth--;
                if (depth === 0) {
                    first ??= text.slice(start);
                    return { whole: `${text}${c}`.trim(), first: first.trim() };
                }
                if (depth < 0) return undefined;
            } else if (c === ',' && depth === 1) first ??= text.slice(start);
            text += piece[j];
        }
        text += ' ';
    }
    return undefined;
}

function place(error) {
    const { line, column } = positionOf(error, checks.file);
    return { line, column, where: line === undefined ? `(${checks.file})` : `(${checks.file}:${line})` };
}

const EQUALITIES = new Set(['equal', 'strictEqual', 'deepEqual', 'deepStrictEqual', '==', '===', 'strictDeepEqual']);

// What to say about a check that did not hold.
function sentence(error, said) {
    const { line, column, where } = place(error);
    const call = callAt({ line, column });
    const own = said === undefined ? '' : `: ${said instanceof Error ? said.message : said}`;
    if (EQUALITIES.has(error.operator) && call) {
        return `${call.first} gave ${show(error.actual)}, expected ${show(error.expected)}${own} ${where}`;
    }
    if (call) return `${call.whole} does not hold${own} ${where}`;
    return `${error.message.split('\n')[0]} ${where}`;
}

function counted(check, messageAt) {
    return function (...args) {
        checks.count++;
        const marked = (error) => {
            if (!(error instanceof realAssert.AssertionError) || error.isUnmet) {
                // A message that is an error is thrown as it is.
                return error;
            }
            return new Unmet(sentence(error, args[messageAt]), error);
        };
        try {
            const result = check.apply(this, args);
            return result instanceof Promise ? result.catch((error) => { throw marked(error); }) : result;
        } catch (error) {
            throw marked(error);
        }
    };
}

// `assert` with all its functions; `strict` for the strict form.
function makeAssert(real) {
    const ok = counted(function (...args) {
        if (args.length === 0) real.ok();
        if (!args[0]) throw new realAssert.AssertionError({ actual: args[0], expected: true, operator: 'ok', stackStartFn: ok });
    }, 1);
    const one = new Set(['ok', 'ifError', 'throws', 'rejects', 'doesNotThrow', 'doesNotReject', 'fail']);
    for (const name of Object.keys(real)) {
        const value = real[name];
        if (typeof value !== 'function' || name === 'AssertionError' || name === 'CallTracker') ok[name] = value;
        else if (name !== 'strict') ok[name] = counted(value, one.has(name) ? 1 : 2);
    }
    ok.ok = counted(ok.bind(undefined), 99);
    ok.ok = ok;
    return ok;
}

const assert = makeAssert(realAssert);
const strictAssert = makeAssert(realAssert.strict);
assert.strict = strictAssert;
strictAssert.strict = strictAssert;
console.assert = (...args) => assert(args[0], args[1]);

function contains(value, item) {
    return typeof value === 'string' ? value.includes(item) : [...value].includes(item);
}

// The part of `expect` that Jest, Vitest and others have in common. Each entry says whether a value meets it.
const MATCHERS = {
    __proto__: null,
    toBe: (value, expected) => Object.is(value, expected),
    toEqual: (value, expected) => { try { realAssert.deepEqual(value, expected); return isDeepStrictEqual(value, expected) || loosely(value, expected); } catch { return false; } },
    toStrictEqual: isDeepStrictEqual,
    toBeTruthy: (value) => Boolean(value),
    toBeFalsy: (value) => !value,
    toBeNull: (value) => value === null,
    toBeUndefined: (value) => value === undefined,
    toBeDefined: (value) => value !== undefined,
    toBeNaN: (value) => Number.isNaN(value),
    toBeGreaterThan: (value, than) => value > than,
    toBeGreaterThanOrEqual: (value, than) => value >= than,
    toBeLessThan: (value, than) => value < than,
    toBeLessThanOrEqual: (value, than) => value <= than,
    toBeCloseTo: (value, near, digits = 2) => value === near || Math.abs(value - near) < 10 ** -digits / 2,
    toBeInstanceOf: (value, kind) => value instanceof kind,
    toContain: contains,
    toContainEqual: (value, item) => [...value].some((each) => isDeepStrictEqual(each, item)),
    toHaveLength: (value, length) => value.length === length,
    toHaveProperty: (value, name, ...expected) => {
        const parts = Array.isArray(name) ? name : `${name}`.split('.');
        let at = value;
        for (const part of parts) {
            if (at === null || at === undefined || !(part in Object(at))) return false;
            at = at[part];
        }
        return expected.length === 0 || isDeepStrictEqual(at, expected[0]);
    },
    toMatch: (value, pattern) => (typeof pattern === 'string' ? value.includes(pattern) : pattern.test(value)),
    toMatchObject: (value, part) => Object.keys(part).every((name) => isDeepStrictEqual(value[name], part[name])),
    toThrow: (value, expected) => thrown(value, expected),
    toThrowError: (value, expected) => thrown(value, expected),
};

// Equal but for properties that are `undefined`, and with 0 and -0 told apart as Jest does.
function loosely(left, right) {
    const bare = (value) => {
        if (Array.isArray(value)) return value.map(bare);
        if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
        return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined).map(([k, v]) => [k, bare(v)]));
    };
    return isDeepStrictEqual(bare(left), bare(right));
}

function thrown(call, expected) {
    try {
        call();
    } catch (error) {
        return matchesError(error, expected);
    }
    return false;
}

function matchesError(error, expected) {
    const message = `${error?.message ?? error}`;
    if (expected === undefined) return true;
    if (typeof expected === 'string') return message.includes(expected);
    if (expected instanceof RegExp) return expected.test(message);
    if (typeof expected === 'function') return error instanceof expected;
    return message === expected.message;
}

function expect(value) {
    const matchers = (wanted, settle) => {
        const list = { __proto__: null };
        for (const [name, meets] of Object.entries(MATCHERS)) {
            const judge = (found, args) => {
                if (meets(found, ...args) === wanted) return;
                const operator = wanted && ['toBe', 'toEqual', 'toStrictEqual'].includes(name) ? 'equal' : name;
                const error = new realAssert.AssertionError({ actual: found, expected: args[0], operator });
                throw new Unmet(sentence(error), error);
            };
            list[name] = (...args) => {
                checks.count++;
                return settle ? settle(value).then((found) => judge(name.startsWith('toThrow') ? () => { throw found; } : found, args)) : judge(value, args);
            };
        }
        return list;
    };
    const both = (settle) => Object.assign(matchers(true, settle), { not: matchers(false, settle) });
    const refused = async (promise) => {
        try {
            await (typeof promise === 'function' ? promise() : promise);
        } catch (error) {
            return error;
        }
        throw new Unmet(`a promise was kept that should be broken ${place(new Error()).where}`);
    };
    return Object.assign(both(), { resolves: both(async (promise) => promise), rejects: both(refused) });
}
