// Functions that note how they are called, of Jest, Vitest and node.

let orderOfCalls = 0;
const mocked = [];

// One function with one record, and how to change what it does; the libraries differ in how they call that.
function mockCore(implementation) {
    const core = { calls: [], results: [], instances: [], contexts: [], order: [], once: [], implementation, original: implementation };
    core.run = function (self, args, isNew) {
        core.calls.push(args);
        core.contexts.push(self);
        core.instances.push(self);
        core.order.push(++orderOfCalls);
        const result = { type: 'incomplete', value: undefined };
        core.results.push(result);
        const body = core.once.length > 0 ? core.once.shift() : core.implementation;
        try {
            const value = body === undefined ? undefined : isNew && isConstructible(body) ? Reflect.construct(body, args) : apply(body, self, args);
            Object.assign(result, { type: 'return', value });
            return value;
        } catch (error) {
            Object.assign(result, { type: 'throw', value: error });
            throw error;
        }
    };
    core.clear = () => { for (const list of ['calls', 'results', 'instances', 'contexts', 'order']) core[list] = []; };
    core.reset = () => {
        core.clear();
        core.once = [];
        core.implementation = core.restored ? core.original : undefined;
    };
    mocked.push(core);
    return core;
}

function isConstructible(body) {
    return typeof body.prototype === 'object';
}

// A mock of Jest's or Vitest's kind.
function mockFunction(implementation) {
    const core = mockCore(implementation);
    let name = 'jest.fn()';
    const mock = function (...args) { return core.run(this, args, new.target !== undefined); };
    const change = (body) => (...args) => {
        body(...args);
        return mock;
    };
    const set = (make) => change((value) => { core.implementation = make(value); });
    const once = (make) => change((value) => { core.once.push(make(value)); });
    const ways = {
        Implementation: (body) => body,
        ReturnValue: (value) => () => value,
        ResolvedValue: (value) => () => Promise.resolve(value),
        RejectedValue: (value) => () => Promise.reject(value),
        ThrowValue: (value) => () => { throw value; },
    };
    for (const [what, make] of Object.entries(ways)) {
        mock[`mock${what}`] = set(make);
        mock[`mock${what}Once`] = once(make);
    }
    mock.mockReturnThis = change(() => { core.implementation = function () { return this; }; });
    mock.mockClear = change(core.clear);
    mock.mockReset = change(core.reset);
    mock.mockRestore = change(() => {
        core.reset();
        core.restore?.();
    });
    mock.mockName = change((text) => { name = text; });
    mock.getMockName = () => name;
    mock.getMockImplementation = () => core.implementation;
    mock.withImplementation = (body, during) => {
        const before = core.implementation;
        core.implementation = body;
        const back = () => { core.implementation = before; };
        const result = during();
        return typeof result?.then === 'function' ? result.then(back) : (back(), undefined);
    };
    const record = {
        get calls() { return core.calls; },
        get results() { return core.results; },
        get settledResults() { return core.results; },
        get instances() { return core.instances; },
        get contexts() { return core.contexts; },
        get invocationCallOrder() { return core.order; },
        get lastCall() { return core.calls.at(-1); },
    };
    defineProperty(mock, 'mock', { value: record });
    defineProperty(mock, 'core', { value: core });
    for (const key of Object.keys(mock)) defineProperty(mock, key, { enumerable: false });
    return mock;
}

const isMock = (value) => typeof value === 'function' && handleFor(value) === undefined && value.core?.calls !== undefined;

// Replaces a member of an object, and puts it back.
function replaceMember(object, key, accessor, make) {
    let owner = object;
    while (owner !== null && !hasOwn(owner, key)) owner = getPrototypeOf(owner);
    const descriptor = owner === null ? undefined : getOwnPropertyDescriptor(owner, key);
    const original = accessor ? descriptor?.[accessor] : object[key];
    if (typeof original !== 'function') throw new Error(`${keyText(key)} is not a function, and cannot be watched`);
    if (isMock(original)) return original;
    const mock = make(original);
    if (accessor) defineProperty(object, key, { ...descriptor, [accessor]: mock });
    else object[key] = mock;
    Object.assign(mock.core, {
        restored: true,
        restore() {
            if (owner === object) handleFor(object) || !descriptor ? object[key] = original : defineProperty(object, key, descriptor);
            else delete object[key];
        },
    });
    return mock;
}

const spyOn = (object, key, accessor) => replaceMember(object, key, accessor, (original) => mockFunction(function (...args) { return apply(original, this, args); }));
const forAll = (what) => function () {
    for (const core of mocked) core[what]?.();
    return this;
};
const mockLibrary = {
    fn: mockFunction,
    spyOn,
    isMockFunction: isMock,
    mocked: (value) => value,
    clearAllMocks: forAll('clear'),
    resetAllMocks: forAll('reset'),
    restoreAllMocks: forAll('restore'),
    setTimeout: () => {},
    setConfig: () => {},
    retryTimes: () => {},
    hoisted: (make) => make(),
    replaceProperty(object, key, value) {
        const descriptor = getOwnPropertyDescriptor(object, key);
        object[key] = value;
        const core = mockCore();
        core.restore = () => (descriptor ? defineProperty(object, key, descriptor) : delete object[key]);
        return { restore: core.restore, replaceValue: (other) => { object[key] = other; } };
    },
    async waitFor(body, { timeout = 1000, interval = 50 } = {}) {
        for (const end = Date.now() + timeout; ;) {
            try {
                return await body();
            } catch (error) {
                if (Date.now() > end) throw error;
            }
            await new Promise((resolve) => later(resolve, interval));
        }
    },
    ...fakeTimers,
};

// A mock of node's kind.
function nodeMock(original = () => {}, implementation = original) {
    if (typeof implementation !== 'function') implementation = original;
    const core = mockCore(implementation);
    core.calls = [];
    const record = {
        get calls() {
            return core.calls.map((args, i) => ({
                arguments: args, this: core.contexts[i], target: undefined, stack: new Error(),
                result: core.results[i].type === 'return' ? core.results[i].value : undefined,
                error: core.results[i].type === 'throw' ? core.results[i].value : undefined,
            }));
        },
        callCount: () => core.calls.length,
        resetCalls: core.clear,
        mockImplementation: (body) => { core.implementation = body; },
        mockImplementationOnce: (body) => { core.once.push(body); },
        restore: () => {
            core.implementation = original;
            core.restore?.();
        },
    };
    const mock = function (...args) { return core.run(this, args, new.target !== undefined); };
    defineProperty(mock, 'mock', { value: record });
    defineProperty(mock, 'core', { value: core });
    return mock;
}

const nodeMocks = {
    fn: nodeMock,
    method: (object, key, implementation) => replaceMember(object, key, undefined, (original) => nodeMock(original, typeof implementation === 'function' ? implementation : original)),
    getter: (object, key, implementation) => replaceMember(object, key, 'get', (original) => nodeMock(original, implementation)),
    setter: (object, key, implementation) => replaceMember(object, key, 'set', (original) => nodeMock(original, implementation)),
    reset: forAll('restore'),
    restoreAll: forAll('restore'),
    timers: {
        enable: () => fakeTimers.useFakeTimers(),
        tick: (time) => fakeTimers.advanceTimersByTime(time ?? 1),
        runAll: () => fakeTimers.runAllTimers(),
        reset: () => fakeTimers.useRealTimers(),
        setTime: (time) => fakeTimers.setSystemTime(time),
    },
};
