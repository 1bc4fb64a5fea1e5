// What the judge knows of the code under test: values that crossed, and stand-ins for what stays with the
// code. A stand-in holds what was last said of its thing, said once for every call that may have changed it;
// nothing of it is asked while a check is decided.

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

const line = new Line(inputFd, outputFd);
const handles = new Map();
const handleOf = new WeakMap();
const prototypes = new Map();
const mirrors = new Map();
const namedMirrors = new WeakSet();
const waiting = new Map();
const news = [];
// Errors of the program, and the lines they came from.
const FOREIGN = new WeakMap();
// Checks that failed in a function of the tests that the code called, until they come back to the tests.
const swallowed = new Map();
// What was computed of errors of the code's classes.
const memos = new WeakMap();
// Classes of the user's own file, of which the judge has its own copy.
const ownClasses = new Map();
const ownPrototypes = new Map();
// Grows with every call after which things of the code may have changed.
let epoch = 0;

INTRINSICS.AssertionError = realAssert.AssertionError.prototype;

// What would let the worker act in this process.
const POWERS = new Set([globalThis, process, require, globalThis.eval]);
for (const of of [() => {}, function* () {}, async () => {}, async function* () {}]) POWERS.add(getPrototypeOf(of).constructor);

const isChecked = (error) => error instanceof realAssert.AssertionError;

const codec = new Codec({
    mustRemember: ([, , first], count) => count < MANY && (!isArray(first) || first.length <= LARGE),
    isData: (value, kind) => kind !== undefined,
    classOf: (value) => (ownPrototypes.size === 0 || types.isProxy(value) || types.isNativeError(value) ? undefined : ownPrototypes.get(getPrototypeOf(value))),
    prototypeOf: (name) => ownClasses.get(name).prototype,
    describe: () => false,
    lend(value) {
        if (POWERS.has(value)) throw new NotCarried('what runs any text');
        const isNew = !codec.numbers.has(value);
        const id = codec.lent(value);
        if (typeof value === 'function') return ['f', id, Number(value.length) || 0, `${value.name}`];
        if (!types.isPromise(value)) return ['j', id, isArray(value) ? 'a' : 'o'];
        if (isNew) {
            const note = (isKept) => (result) => {
                if (!isKept && isChecked(result)) swallowed.set(result, epoch);
                news.push([id, isKept, result]);
            };
            value.then(note(true), note(false));
        }
        return ['jp', id];
    },
    // What the code hangs onto data must not hide what the data can do, nor be asked about other values.
    isKept(node, key, value, isPlain) {
        if (typeof key === 'symbol') return mayBeKept(key, value) && !(isPlain && typeof value === 'function');
        if (isPlain) return typeof value !== 'function';
        if (key in getPrototypeOf(node)) return typeof value !== 'function' && !hasAccessor(node, key);
        return typeof value !== 'function' || !ASKING.has(key);
    },
    lendPrototype: (proto) => (ownPrototypes.has(proto) ? ['c', ownPrototypes.get(proto)] : null),
    borrow([tag, id, kind]) {
        if (tag === 'p') return promiseOf(id);
        if (tag === 'h') return (handles.get(id) ?? standIn(id, kind)).proxy;
        throw new NotCarried('something unreadable');
    },
    setPrototype(error, code) {
        Object.setPrototypeOf(error, code[0] === 'c' ? ownClasses.get(code[1]).prototype : mirror(code));
    },
}, 0);

// Of the symbols that the language asks for, code may walk over its things, and call them like nothing in the
// language.
function mayBeKept(key, value) {
    if (!wellKnown.has(key)) return true;
    return key === Symbol.toStringTag ? INTRINSICS[value] === undefined : key === Symbol.iterator || key === Symbol.asyncIterator;
}

function hasAccessor(node, key) {
    for (let proto = getPrototypeOf(node); proto !== null; proto = getPrototypeOf(proto)) {
        if (hasOwn(proto, key)) return !('value' in getOwnPropertyDescriptor(proto, key));
    }
    return false;
}

// ---- the line

function receive(mayChange) {
    for (;;) {
        let message;
        try {
            message = line.receive();
        } catch {
            report('failed', 'the program sent something that cannot be read');
        }
        if (message === undefined) report('gone');
        if (!isArray(message)) report('failed', 'the program sent something that cannot be read');
        const answer = CALLS[message[0]];
        if (answer === undefined) return message;
        let kind = 'return', result;
        try {
            result = answer(message);
        } catch (error) {
            kind = 'raise';
            result = error;
            if (isChecked(error)) swallowed.set(error, epoch);
        }
        const [[code], heap] = codec.pack([result], true);
        // Now the code goes on, and what was said of its things before may be wrong.
        epoch++;
        line.send([kind, code, heap]);
    }
}

// An object that the tests gave the code, and a member of it that is the object's own business: nothing that
// all objects have leads from here to functions that run text.
function opened(id, code, mustBeOwn = true) {
    const object = codec.mine.get(id), key = codec.decode(code);
    if (typeof object !== 'object' || object === null) throw new NotCarried('something that is not there');
    const isHidden = typeof key === 'symbol' ? ![Symbol.iterator, Symbol.asyncIterator, Symbol.toStringTag].includes(key)
        : key === 'constructor' || key === 'prototype' || key in Object.prototype;
    if (isHidden && mustBeOwn) return [{ __proto__: null }, 'nothing'];
    return [object, isHidden ? 'nothing' : key];
}

// What the code may ask of things that the tests gave it.
const CALLS = {
    __proto__: null,
    callback([, [id, isNew], ...packed]) {
        const [self, ...args] = taken(...packed, true);
        checks.crossed = true;
        const called = codec.mine.get(id);
        return isNew ? Reflect.construct(called, args) : apply(called, self, args);
    },
    jget([, [id, code]]) {
        const [object, key] = opened(id, code);
        const value = object[key];
        return typeof value === 'function' ? value.bind(object) : value;
    },
    jset([, [id, code], ...packed]) {
        const [object, key] = opened(id, code);
        object[key] = taken(...packed, true)[0];
        return true;
    },
    jhas([, [id, code]]) {
        const [object, key] = opened(id, code, false);
        return key in object;
    },
    jkeys: ([, [id]]) => ownKeys(opened(id, '', false)[0]).filter((key) => typeof key === 'string'),
    printed([, [of, key], ...packed]) {
        if (!reach.watched.some(([one, other]) => one === of && other === key)) throw new NotCarried('what nobody watches');
        checks.crossed = true;
        const args = taken(...packed, true);
        const target = of === 'console' ? console : process[of];
        return target[key](...args);
    },
};

// The values of a message. Only where the code was to run it may have changed what both sides know.
function taken(codes, heap, things, mayChange) {
    try {
        const said = [];
        for (const [id, content] of things) {
            if (content[0] === 'p') {
                if (!prototypes.has(id)) prototypes.set(id, content);
            } else said.push([id, content]);
        }
        const values = codec.unpack(codes, heap, mayChange);
        for (const [id, content] of said) if (handles.has(id)) describe(handles.get(id), content);
        return values;
    } catch {
        return report('failed', 'the program sent something that cannot be read');
    }
}

function exchange(message, mayChange = true) {
    if (mayChange) {
        epoch++;
        codec.forget();
    }
    const since = epoch;
    line.send(message);
    return settle(receive(mayChange), mayChange, since);
}

// A check that failed in a function of the tests comes back from the very call that it failed in: the tests
// will handle it.
function comesBack(error, since) {
    if (swallowed.get(error) >= since) swallowed.delete(error);
}

// The value of a reply, in a box, or nothing; or what it throws.
function settle([kind, code, heap, things, at], mayChange, since = 0) {
    switch (kind) {
        case 'value': {
            if (mayChange) checks.crossed = true;
            return { value: taken([code], heap, things, mayChange)[0] };
        }
        case 'absent': return undefined;
        case 'throw': {
            checks.crossed = true;
            const [error] = taken([code], heap, things, true);
            FOREIGN.set(Object(error), Number.isInteger(at) ? at : undefined);
            comesBack(error, since);
            throw error;
        }
        case 'lost': throw new Error(`the program gave ${code}, which cannot be passed on`);
    }
    return report('failed', 'the program sent something that cannot be read');
}

// Sends values with a question. What the tests give is theirs to choose, and all of it can be lent.
function asked(verb, first, values, mayChange = true) {
    const [codes, heap] = codec.pack(values, mayChange);
    return exchange([verb, first, ...(verb === 'name' ? [] : []), codes, heap], mayChange)?.value;
}

// ---- things of the code

const keyText = (key) => (typeof key === 'symbol' ? `[${key.description}]` : key);
const handleFor = (value) => (typeof value === 'object' || typeof value === 'function') && value !== null ? handleOf.get(value) : undefined;

// Methods by which a value is asked about another one, or that walk over it. On what a function gave they
// would let the code decide its own checks; arrays, sets and the like have arrived as such.
const ASKING = new Set(['includes', 'indexOf', 'lastIndexOf', 'has', 'startsWith', 'endsWith', 'match', 'matchAll', 'search', 'test', 'exec',
    'localeCompare', 'equals', 'equal', 'isEqual', 'isEqualTo', 'eq', 'eql', 'deepEquals', 'deepEqual', 'compareTo', 'compare', 'contains', 'some',
    'every', 'entries', 'keys', 'values', 'find', 'findIndex', 'findLast', 'findLastIndex', 'forEach', 'map', 'filter', 'reduce', 'reduceRight', 'flatMap', 'sort', 'toSorted',
    'isSubsetOf', 'isSupersetOf', 'isDisjointFrom', 'symmetricDifference', 'difference', 'intersection', 'union', 'concat', 'is', 'isPrototypeOf',
    'hasOwnProperty', 'propertyIsEnumerable', 'same', 'sameAs', 'matches']);
const CHANGING = new Set(['add', 'set', 'push', 'unshift', 'delete', 'clear', 'pop', 'shift', 'splice']);
const plainMethods = new Set([Array, String, Map, Set, Object, Promise, Date, Number, RegExp].flatMap((of) => Object.getOwnPropertyNames(of.prototype)));

// Whether the tests use this thing as one of a class of theirs, or have made it do something of its own
// before.
function isNamed(handle, key) {
    if (handle.driven || handle.names?.some((name) => words.members.has(`${name}.${keyText(key)}`))) return true;
    return isOfNamedClass(handle);
}

function isOfNamedClass(handle) {
    if (handle.isMade) return true;
    for (let proto = getPrototypeOf(handle.target), i = 0; proto !== null && i < 50; proto = getPrototypeOf(proto), i++) {
        if (namedMirrors.has(proto)) return true;
    }
    return false;
}

// What an object of such a class gives, or its constructor, is as good as one.
function madeBy(maker, value) {
    const handle = maker && handleFor(value);
    if (handle) handle.isMade = true;
    return value;
}

const isClass = (handle) => handle?.names?.some((name) => words.classes.has(name));

function standIn(id, kind) {
    const target = kind === 'a' ? [] : kind === 'o' ? {} : kind === 'c' ? function () {} : () => {};
    const handle = { id, target, seen: -1, memo: new Map(), isProxy: false, driven: false };
    handle.proxy = new Proxy(target, new Traps(handle));
    handles.set(id, handle);
    handleOf.set(handle.proxy, handle);
    codec.origins.set(handle.proxy, id);
    return handle;
}

// Asks once what a thing is made of.
function look(handle) {
    if (handle.seen === epoch) return;
    exchange(['look', handle.id], false);
    handle.seen = epoch;
}

// What was said of a thing.
function describe(handle, [kind, proto, own, name, length, prototype]) {
    const { target } = handle;
    handle.seen = epoch;
    handle.isProxy = kind === 'y';
    handle.memo.clear();
    const there = new Set();
    for (const [code, enumerable, ...value] of own) {
        const key = codec.decode(code);
        there.add(key);
        if (key === 'length' && isArray(target)) {
            target.length = codec.decode(value[0]);
            continue;
        }
        const rest = { enumerable: enumerable === 1, configurable: true };
        defineProperty(target, key, value.length > 0 ? { value: codec.decode(value[0]), writable: true, ...rest }
            : { get: () => member(handle.proxy, key), set: (to) => { change('set', handle, key, to); }, ...rest });
    }
    if (typeof target === 'function') {
        defineProperty(target, 'name', { value: `${name}`, configurable: true });
        defineProperty(target, 'length', { value: Number(length), configurable: true });
        if (prototype && hasOwn(target, 'prototype')) target.prototype = mirror(prototype);
        ['name', 'length', 'prototype'].forEach((key) => there.add(key));
    }
    for (const key of ownKeys(target)) if (!there.has(key)) delete target[key];
    Object.setPrototypeOf(target, mirror(proto));
}

// The judge's own form of a prototype of the code: its methods ask for themselves by name.
function mirror(code) {
    if (code === null) return null;
    const [tag, id] = code;
    if (tag === 'i') return INTRINSICS[id] ?? Object.prototype;
    if (mirrors.has(id)) return mirrors.get(id);
    const [, parent, keys, intrinsic, constructor] = prototypes.get(id) ?? ['p', ['i', 'Object'], [], '', null];
    const own = Object.create(INTRINSICS[intrinsic] ?? mirror(parent));
    mirrors.set(id, own);
    codec.origins.set(own, id);
    for (const [keyCode, kind, value] of keys) {
        const key = codec.decode(keyCode);
        if (kind === 'm') {
            const method = { [key](...args) { return mayBeAsked(this, key) ? invoke(this, key, args) : refuse(key); } }[key];
            defineProperty(own, key, { value: method, writable: true, configurable: true });
        } else if (kind === 'g') {
            defineProperty(own, key, { get() { return member(this, key); }, set(to) { change('set', handleFor(this), key, to); }, configurable: true });
        } else defineProperty(own, key, { value: codec.decode(value), writable: true, configurable: true });
    }
    if (constructor) defineProperty(own, 'constructor', { value: codec.decode(constructor), writable: true, configurable: true });
    return own;
}

function mayBeAsked(self, key) {
    if (!ASKING.has(key)) return true;
    const handle = handleFor(self);
    return handle ? isNamed(handle, key) : isOfNamedClass({ target: self });
}

function refuse(key) {
    throw new Error(`'${keyText(key)}' of an object that the program made is its own, and decides no check`);
}

function invoke(self, key, args) {
    if (!handleFor(self) && !codec.ids.has(Object(self))) throw new TypeError(`${keyText(key)} was called on something else than its object`);
    const handle = handleFor(self);
    return madeBy(handle && isOfNamedClass(handle), asked('invoke', null, [self, key, ...args]));
}

// A property that the code has to compute; the same until the tests call something.
function member(self, key) {
    const handle = handleFor(self);
    if (handle) look(handle);
    else if (!codec.ids.has(Object(self))) return undefined;
    let memo = handle?.memo ?? memos.get(self);
    if (memo === undefined || (!handle && memo.epoch !== epoch)) memos.set(self, (memo = Object.assign(new Map(), { epoch })));
    if (!memo.has(key)) {
        const value = asked('get', null, [self, key], false);
        checks.crossed = true;
        memo.set(key, value);
    }
    return memo.get(key);
}

function change(verb, handle, key, ...values) {
    if (handle === undefined) return false;
    const isDone = asked(verb, null, [handle.proxy, key, ...values]) === true;
    handle.seen = -1;
    return isDone;
}

// What a thing is as text, or, if it is of a class that the tests name, as a number. Anything else equals
// nothing.
function primitive(handle, hint) {
    const { target, proxy, memo } = handle;
    const at = `as ${hint}`;
    const isOwn = (key) => typeof Reflect.get(target, key) === 'function' && Reflect.get(target, key) !== Object.prototype[key];
    look(handle);
    if (hint !== 'string' && !isOfNamedClass(handle)) return NaN;
    if (!memo.has(at)) {
        let value = proxy;
        if (isOwn(Symbol.toPrimitive)) value = invoke(proxy, Symbol.toPrimitive, [hint]);
        for (const key of hint === 'string' ? ['toString', 'valueOf'] : ['valueOf', 'toString']) {
            if (Object(value) === value && isOwn(key)) value = invoke(proxy, key, []);
        }
        memo.set(at, Object(value) === value ? (hint === 'string' ? Object.prototype.toString.call(target) : NaN) : value);
        handle.seen = epoch;
    }
    return memo.get(at);
}

const sourceOf = (handle, hint) => (hint === 'string' ? exchange(['source', handle.id], false).value : NaN);

// Walks over a thing whose items and length must agree.
function* walked(handle, method) {
    // Before anything else is asked that could change them.
    const counts = ['length', 'size'].map((key) => handle.proxy[key]).filter((count) => typeof count === 'number');
    const iterator = apply(method, handle.proxy, []);
    let seen = 0, isDone = false;
    try {
        for (;;) {
            const { done, value } = iterator.next();
            if (done) break;
            seen++;
            yield value;
        }
        isDone = true;
    } finally {
        if (!isDone) iterator.return?.();
    }
    if (counts.some((count) => count !== seen)) report('tampered', `an object of the program says that it has ${counts[0]} items, and gives ${seen}`);
}

class Traps {
    constructor(handle) {
        this.handle = handle;
    }

    apply(_, self, args) {
        const of = handleFor(self);
        const value = asked('call', this.handle.id, [self === globalThis ? undefined : self, ...args]);
        return madeBy(of && (isClass(of) || isOfNamedClass(of)), value);
    }

    construct(_, args) {
        return madeBy(isClass(this.handle), asked('new', this.handle.id, [undefined, ...args]));
    }

    get(target, key, receiver) {
        const { handle } = this;
        const isFunction = typeof target === 'function';
        if (key === Symbol.toPrimitive) return (hint) => (isFunction ? sourceOf(handle, hint) : primitive(handle, hint));
        if (isFunction && (key === 'call' || key === 'apply' || key === 'bind' || key === Symbol.hasInstance)) return Function.prototype[key];
        if (isFunction && key === 'toString') return () => sourceOf(handle, 'string');
        if (handle.seen < 0 || handle.isProxy || hasOwn(target, key) || typeof getPrototypeOf(target)?.[key] !== 'function') look(handle);
        const isComputed = handle.isProxy && !isFunction && typeof key === 'string' && !hasOwn(target, key);
        const value = isComputed ? member(handle.proxy, key) : Reflect.get(target, key, receiver);
        if (typeof key === 'symbol' && !mayBeKept(key, value) && !isOfNamedClass(handle)) return undefined;
        if (typeof value !== 'function') {
            checks.crossed = true;
            return value;
        }
        if (key === Symbol.iterator && !isOfNamedClass(handle) && value !== INTRINSICS.Iterator[Symbol.iterator]) {
            return () => walked(handle, value);
        }
        if (typeof key === 'symbol') return value;
        // What only looks like a promise has arrived as one.
        if (key === 'then' && !isOfNamedClass(handle)) return undefined;
        if (ASKING.has(key) && value !== Object.prototype[key]) {
            if (!isNamed(handle, key)) return () => refuse(key);
        } else if (words.calls.has(key) && (CHANGING.has(key) || !plainMethods.has(key))) handle.driven = true;
        return value;
    }

    set(_, key, value) {
        return change('set', this.handle, key, value);
    }

    defineProperty(_, key, descriptor) {
        return 'value' in descriptor && change('set', this.handle, key, descriptor.value);
    }

    deleteProperty(_, key) {
        return change('delete', this.handle, key);
    }

    has(target, key) {
        look(this.handle);
        return Reflect.has(target, key);
    }

    ownKeys(target) {
        look(this.handle);
        return ownKeys(target);
    }

    getOwnPropertyDescriptor(target, key) {
        look(this.handle);
        return getOwnPropertyDescriptor(target, key);
    }

    getPrototypeOf(target) {
        look(this.handle);
        return getPrototypeOf(target);
    }

    setPrototypeOf() {
        return false;
    }

    preventExtensions() {
        return false;
    }
}

// ---- promises and the worker's event loop

function promiseOf(id) {
    let entry = waiting.get(id);
    if (entry === undefined) {
        entry = { since: epoch };
        entry.promise = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
        waiting.set(id, entry);
        codec.origins.set(entry.promise, id);
    }
    return entry.promise;
}

let isPumping = 0, isScheduled = false, quiet = 0;
const pendingPromises = () => [...waiting.values()].filter((entry) => !entry.isSettled);

// Gives the worker's event loop a turn, as long as the tests wait for something.
function turn() {
    isScheduled = false;
    if (isPumping === 0) return;
    const hasMore = news.length > 0 || isBusy();
    const packed = news.splice(0).map(([id, isKept, value]) => {
        const [codes, heap] = codec.pack([value]);
        return [id, isKept, [codes, heap]];
    });
    epoch++;
    codec.forget();
    line.send(['turn', packed, hasMore ? 1 : 4]);
    const message = receive(true);
    const [kind, outcomes, heap, things, isIdle] = message;
    if (kind !== 'turned' || !isArray(outcomes)) report('failed', 'the program sent something that cannot be read');
    const values = taken(outcomes.map(([, , code]) => code), heap, things, true);
    outcomes.forEach(([id, how, , at], i) => {
        const entry = waiting.get(id);
        if (entry === undefined || entry.isSettled) return;
        entry.isSettled = true;
        checks.crossed = true;
        if (how === 'value') return entry.resolve(values[i]);
        if (Object(values[i]) === values[i]) FOREIGN.set(values[i], Number.isInteger(at) ? at : undefined);
        comesBack(values[i], entry.since);
        entry.reject(values[i]);
    });
    quiet = isIdle && !hasMore && outcomes.length === 0 && packed.length === 0 ? quiet + 1 : 0;
    if (quiet > 2) {
        const pending = pendingPromises();
        if (pending.length === 0) report('failed', 'a promise that a test waits for was never settled');
        for (const entry of pending) {
            entry.isSettled = true;
            entry.promise.catch(() => {});
            entry.reject(new Error('a promise of the program was never settled'));
        }
        quiet = 0;
    }
    schedule(outcomes.length > 0 || packed.length > 0 || quiet > 0);
}

function schedule(isAtOnce) {
    if (isScheduled) return;
    isScheduled = true;
    if (isAtOnce) soon(turn);
    else later(turn, 1);
}

// Waits for what a test gives, while the code under test goes on.
async function awaited(value) {
    if (typeof value?.then !== 'function' || isShared) return value;
    isPumping++;
    quiet = 0;
    schedule(true);
    try {
        return await value;
    } finally {
        isPumping--;
    }
}
