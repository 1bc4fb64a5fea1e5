// `expect`, as far as Jest, Vitest and others have it in common.

function contains(value, item) {
    if (typeof value === 'string') return value.includes(item);
    return [...value].some((each) => each === item || (each !== each && item !== item));
}

// Walks a path; undefined if it ends early.
function atPath(value, path) {
    const parts = isArray(path) ? path : `${path}`.split(/[.[\]]+/).filter((part) => part !== '');
    let at = value;
    for (const part of parts) {
        if (at === null || at === undefined || !(part in Object(at))) return undefined;
        at = at[part];
    }
    return { value: at };
}

function matchesError(error, expected) {
    const message = `${error?.message ?? error}`;
    if (expected === undefined) return true;
    if (isAsymmetric(expected)) return equals(error, expected);
    if (typeof expected === 'string') return message.includes(expected);
    if (types.isRegExp(expected)) return expected.test(message);
    if (typeof expected === 'function') return error instanceof expected;
    return message === expected.message && (expected.cause === undefined || equals(error?.cause, expected.cause));
}

function thrown(call, expected) {
    if (typeof call !== 'function') throw new TypeError(`${show(call)} is no function that could throw`);
    try {
        call();
    } catch (error) {
        return matchesError(error, expected);
    }
    return false;
}

const callsOf = (mock) => {
    if (!isMock(mock)) throw new TypeError(`${show(mock)} is no function that notes how it is called`);
    return mock.core;
};
const returnsOf = (mock) => callsOf(mock).results.filter(({ type }) => type === 'return').map(({ value }) => value);
const CALLED = {
    toHaveBeenCalled: (mock) => callsOf(mock).calls.length > 0,
    toHaveBeenCalledTimes: (mock, times) => callsOf(mock).calls.length === times,
    toHaveBeenCalledOnce: (mock) => callsOf(mock).calls.length === 1,
    toHaveBeenCalledWith: (mock, ...args) => callsOf(mock).calls.some((call) => equals(call, args)),
    toHaveBeenCalledExactlyOnceWith: (mock, ...args) => callsOf(mock).calls.length === 1 && equals(mock.core.calls[0], args),
    toHaveBeenLastCalledWith: (mock, ...args) => callsOf(mock).calls.length > 0 && equals(mock.core.calls.at(-1), args),
    toHaveBeenNthCalledWith: (mock, n, ...args) => equals(callsOf(mock).calls[n - 1], args),
    toHaveReturned: (mock) => returnsOf(mock).length > 0,
    toHaveReturnedTimes: (mock, times) => returnsOf(mock).length === times,
    toHaveReturnedWith: (mock, value) => returnsOf(mock).some((each) => equals(each, value)),
    toHaveLastReturnedWith: (mock, value) => returnsOf(mock).length > 0 && equals(returnsOf(mock).at(-1), value),
    toHaveNthReturnedWith: (mock, n, value) => equals(returnsOf(mock)[n - 1], value),
};
const comparable = (value) => typeof value === 'number' || typeof value === 'bigint';

// Each says whether a value meets it.
const MATCHERS = {
    __proto__: null,
    toBe: is,
    toEqual: (value, expected) => equals(value, expected),
    toStrictEqual: (value, expected) => equals(value, expected, true),
    toBeTruthy: (value) => Boolean(value),
    toBeFalsy: (value) => !value,
    toBeNull: (value) => value === null,
    toBeNullable: (value) => value === null || value === undefined,
    toBeUndefined: (value) => value === undefined,
    toBeDefined: (value) => value !== undefined,
    toBeNaN: (value) => Number.isNaN(value),
    toBeGreaterThan: (value, than) => comparable(value) && value > than,
    toBeGreaterThanOrEqual: (value, than) => comparable(value) && value >= than,
    toBeLessThan: (value, than) => comparable(value) && value < than,
    toBeLessThanOrEqual: (value, than) => comparable(value) && value <= than,
    toBeCloseTo: isClose,
    toBeInstanceOf: (value, kind) => value instanceof kind,
    toBeTypeOf: (value, type) => typeof value === type,
    toBeOneOf: (value, list) => [...list].some((each) => equals(value, each)),
    toSatisfy: (value, meets) => Boolean(meets(value)),
    toContain: contains,
    toContainEqual: (value, item) => [...value].some((each) => equals(each, item)),
    toHaveLength: (value, length) => value.length === length,
    toHaveProperty: (value, path, ...expected) => {
        // A name with points may also be that of one property.
        const found = typeof path === 'string' && value !== null && value !== undefined && path in Object(value) ? { value: value[path] } : atPath(value, path);
        return found !== undefined && (expected.length === 0 || equals(found.value, expected[0]));
    },
    toMatch: (value, pattern) => typeof value === 'string' && (typeof pattern === 'string' ? value.includes(pattern) : pattern.test(value)),
    toMatchObject: (value, part) => holds(value, part),
    toThrow: thrown,
    toThrowError: thrown,
    ...CALLED,
};
const ALIASES = {
    toBeCalled: 'toHaveBeenCalled', toBeCalledTimes: 'toHaveBeenCalledTimes', toBeCalledWith: 'toHaveBeenCalledWith', lastCalledWith: 'toHaveBeenLastCalledWith',
    nthCalledWith: 'toHaveBeenNthCalledWith', toReturn: 'toHaveReturned', toReturnTimes: 'toHaveReturnedTimes', toReturnWith: 'toHaveReturnedWith',
    lastReturnedWith: 'toHaveLastReturnedWith', nthReturnedWith: 'toHaveNthReturnedWith',
};
for (const [alias, name] of Object.entries(ALIASES)) MATCHERS[alias] = MATCHERS[name];

function expect(value, note) {
    const matchers = (isWanted, settle) => {
        const countSettled = () => { if (checks.crossed) checks.counted++; };
        const judge = (name, args, found) => {
            const outcome = MATCHERS[name].call({ isNot: !isWanted, equals, utils: { printReceived: show, printExpected: show } }, found, ...args);
            countSettled();
            const said = (result) => {
                const doesHold = typeof result === 'object' && result !== null ? result.pass === true : result === true;
                if (doesHold === isWanted) return;
                const operator = isWanted && ['toBe', 'toEqual', 'toStrictEqual'].includes(name) ? 'equal' : name;
                const error = new realAssert.AssertionError({ actual: found, expected: args[0], operator });
                throw new Unmet(sentence(error, note), error);
            };
            return outcome instanceof Promise ? outcome.then(said) : said(outcome);
        };
        return new Proxy({}, {
            get(_, name) {
                if (typeof name !== 'string' || name === 'then') return undefined;
                if (!(name in MATCHERS)) throw new Error(`expect has no '${name}' here`);
                return (...args) => {
                    checks.count++;
                    if (!settle) return judge(name, args, value);
                    // A promise that is kept throws nothing.
                    const asCall = (found) => () => { if (settle === refused) throw found; };
                    return settle(value).then((found) => judge(name, args, name.startsWith('toThrow') ? asCall(found) : found));
                };
            },
        });
    };
    const place0 = new Error();
    const kept = async (promise) => {
        try {
            return await (typeof promise === 'function' ? promise() : promise);
        } catch (error) {
            if (isChecked(error)) throw error;
            throw new Unmet(`a promise was broken that should be kept: ${told(error)} ${place(place0).where}`);
        }
    };
    const refused = async (promise) => {
        try {
            await (typeof promise === 'function' ? promise() : promise);
        } catch (error) {
            return error;
        }
        throw new Unmet(`a promise was kept that should be broken ${place(place0).where}`);
    };
    const sides = (settle) => {
        const wanted = matchers(true, settle);
        const not = matchers(false, settle);
        return new Proxy({}, { get: (_, key) => (key === 'not' ? not : wanted[key]) });
    };
    const plain = sides();
    return new Proxy({}, { get: (_, key) => (key === 'resolves' ? sides(kept) : key === 'rejects' ? sides(refused) : plain[key]) });
}

// How many checks a test wants to have made.
let expected;
Object.assign(expect, {
    assertions: (count) => { expected = count; },
    hasAssertions: () => { expected ??= true; },
    extend: (more) => {
        for (const [name, meets] of Object.entries(more)) {
            MATCHERS[name] = meets;
            const own = (args) => (value) => meets.call({ equals, utils: {} }, value, ...args).pass;
            expect[name] = (...args) => new Asymmetric(name, own(args), args[0]);
            expect.not[name] = (...args) => new Asymmetric(`not.${name}`, own(args), args[0], true);
        }
    },
    addSnapshotSerializer: () => {},
    fail: (message) => { throw new Unmet(`${message ?? 'failed'} ${place(new Error()).where}`); },
    unreachable: (message) => { throw new Unmet(`${message ?? 'a line was reached that should not be'} ${place(new Error()).where}`); },
    soft: expect,
    not: {},
});
for (const [name, [make, makeInverse]] of Object.entries(ASYMMETRIC)) {
    expect[name] = make;
    if (makeInverse) expect.not[name] = makeInverse;
}

// More of what Vitest's own `assert` has.
const chai = {
    isTrue: (value, note) => strictAssert.strictEqual(value, true, note),
    isFalse: (value, note) => strictAssert.strictEqual(value, false, note),
    isNull: (value, note) => strictAssert.strictEqual(value, null, note),
    isNotNull: (value, note) => strictAssert.notStrictEqual(value, null, note),
    isUndefined: (value, note) => strictAssert.strictEqual(value, undefined, note),
    isDefined: (value, note) => strictAssert.notStrictEqual(value, undefined, note),
    isArray: (value, note) => strictAssert(isArray(value), note),
    isString: (value, note) => strictAssert.strictEqual(typeof value, 'string', note),
    isNumber: (value, note) => strictAssert.strictEqual(typeof value, 'number', note),
    isFunction: (value, note) => strictAssert.strictEqual(typeof value, 'function', note),
    isEmpty: (value, note) => strictAssert.strictEqual(value.length ?? value.size ?? Object.keys(value).length, 0, note),
    lengthOf: (value, count, note) => strictAssert.strictEqual(value.length ?? value.size, count, note),
    include: (value, item, note) => strictAssert(contains(value, item), note),
    notInclude: (value, item, note) => strictAssert(!contains(value, item), note),
    isAbove: (value, than, note) => strictAssert(value > than, note),
    isBelow: (value, than, note) => strictAssert(value < than, note),
    closeTo: (value, near, by, note) => strictAssert(Math.abs(value - near) <= by, note),
    instanceOf: (value, kind, note) => strictAssert(value instanceof kind, note),
    sameMembers: (value, other, note) => strictAssert(value.length === other.length && other.every((item) => value.includes(item)), note),
    property: (value, key, note) => strictAssert(key in value, note),
};
const vitestAssert = Object.assign((...args) => assert(...args), assert, chai, { deepEqual: strictAssert.deepEqual, notDeepEqual: strictAssert.notDeepEqual });
