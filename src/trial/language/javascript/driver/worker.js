// Runs the program under test, and answers what the judge asks. Nothing here is believed: whatever is done to
// this process, it can only send values, and the judge looks at each of them as at any other result.
const [requestFd, recordFd, inputFd, outputFd] = process.argv.slice(-4).map(Number);
const request = parse(fs.readFileSync(requestFd, 'utf8'));
const line = new Line(inputFd, outputFd);
fs.writeSync(recordFd, 'started\n');

// How many things are described with one message; the judge asks for others.
const MOST = 100;
// Prototypes of classes that the tests name: their objects keep their own methods, whatever they extend.
const named = new Set();
// Classes that the judge has, too: their objects go by value.
const copied = new Map();
const described = new Set();
const told = new Set();
let wanted = [];
const promises = new Map();
const settled = [];
let wake = () => {};

const isCallable = (value) => typeof value === 'function';
// A property of foreign code that may fail.
function attempt(read) {
    try {
        return read();
    } catch {
        return undefined;
    }
}

const side = {
    mustRemember: () => true,
    isKept: () => true,
    isData(value, kind) {
        if (kind === undefined) return false;
        if (named.size > 0 && kind !== 'e' && kind !== 'o' && kind !== 'z') {
            for (let proto = getPrototypeOf(value), i = 0; proto !== null && i < 50; proto = getPrototypeOf(proto), i++) {
                if (named.has(proto)) return false;
            }
        }
        if (kind !== 'o' && kind !== 'z') return true;
        // What does something is no data, and a prototype or a namespace is none either.
        return ownKeys(value).every((key) => {
            const own = getOwnPropertyDescriptor(value, key);
            return 'value' in own && !isCallable(own.value);
        });
    },
    classOf(value) {
        return copied.size === 0 || types.isProxy(value) || types.isNativeError(value) ? undefined : copied.get(getPrototypeOf(value));
    },
    prototypeOf: (name) => program.name(name).prototype,
    lend(value) {
        if (!types.isProxy(value) && !isNamed(value) && (types.isPromise(value) || (typeof value === 'object' && isCallable(attempt(() => value.then))))) {
            const id = codec.lent(value);
            if (!promises.has(id)) {
                promises.set(id, true);
                const note = (kind) => (result) => {
                    settled.push([id, kind, result]);
                    wake();
                };
                Promise.resolve(value).then(note('value'), note('throw'));
            }
            return ['p', id];
        }
        const id = codec.lent(value);
        // Later the judge asks when it wants to know.
        if (!told.has(id)) wanted.push(id);
        return ['h', id, isArray(value) ? 'a' : !isCallable(value) ? 'o' : isConstructor(value) ? 'c' : 'f'];
    },
    lendPrototype(proto) {
        return copied.has(proto) ? ['c', copied.get(proto)] : this.proto(proto);
    },
    proto(proto) {
        if (proto === null) return null;
        const name = intrinsicNames.get(proto);
        if (ENDS.has(name)) return ['i', name];
        if (name === undefined && attempt(() => proto.constructor.name) === 'AssertionError') return ['i', 'AssertionError'];
        if (name === undefined && types.isProxy(proto)) return ['i', 'Object'];
        const id = codec.lent(proto);
        if (!described.has(id)) wanted.push(-1 - id);
        return ['h', id];
    },
    // Says of the things that are named in this message what they are made of.
    describe(things, encode) {
        const ids = wanted;
        wanted = [];
        for (const id of ids) {
            if (id < 0) {
                if (described.has(-1 - id)) continue;
                described.add(-1 - id);
                things.push([-1 - id, this.prototype(codec.mine.get(-1 - id), encode)]);
            } else if (things.length < MOST && !things.some(([other]) => other === id)) {
                told.add(id);
                things.push([id, this.thing(codec.mine.get(id), encode)]);
            }
        }
        return ids.length > 0;
    },
    prototype(proto, encode) {
        const keys = [];
        for (const key of ownKeys(proto)) {
            const own = getOwnPropertyDescriptor(proto, key);
            if (key === 'constructor') continue;
            const code = typeof key === 'symbol' ? codec.symbol(key) : key;
            if (!('value' in own)) keys.push([code, 'g']);
            else if (isCallable(own.value)) keys.push([code, 'm']);
            else keys.push([code, 'd', attempt(() => encode(own.value)) ?? null]);
        }
        const constructor = attempt(() => proto.constructor);
        const isOwn = isCallable(constructor) && constructor.prototype === proto && !intrinsicNames.has(proto);
        const of = isOwn ? [isCallable(constructor) ? encode(constructor) : null, `${constructor.name}`] : [null, ''];
        return ['p', this.proto(getPrototypeOf(proto)), keys, intrinsicNames.get(proto) ?? '', ...of];
    },
    thing(value, encode) {
        const isFunction = isCallable(value);
        const isProxy = types.isProxy(value);
        const own = [];
        for (const key of attempt(() => ownKeys(value)) ?? []) {
            if (isFunction && ['length', 'name', 'prototype', 'arguments', 'caller'].includes(key)) continue;
            const found = attempt(() => getOwnPropertyDescriptor(value, key));
            if (found === undefined) continue;
            const code = typeof key === 'symbol' ? codec.symbol(key) : key;
            const entry = [code, found.enumerable ? 1 : 0];
            if ('value' in found) attempt(() => entry.push(encode(isProxy ? value[key] : found.value)));
            own.push(entry);
        }
        const proto = attempt(() => getPrototypeOf(value)) ?? null;
        const rest = isFunction ? [attempt(() => `${value.name}`) ?? '', attempt(() => Number(value.length)) ?? 0,
            isConstructor(value) ? this.proto(value.prototype) : null] : [];
        return [isProxy ? 'y' : '', this.proto(proto), own, ...rest];
    },
    borrow([tag, id, kind, name]) {
        if (tag === 'h') return codec.mine.get(id);
        let value = borrowed.get(`${tag}${id}`);
        if (value === undefined) {
            value = tag === 'jp' ? promised(id) : tag === 'f' ? standIn(id, functionOf(kind, name)) : standIn(id, kind === 'a' ? [] : {});
            borrowed.set(`${tag}${id}`, value);
            codec.origins.set(value, id);
        }
        return value;
    },
    setPrototype(error, code) {
        if (code[0] === 'c') attempt(() => Object.setPrototypeOf(error, program.name(code[1]).prototype));
    },
};
const codec = new Codec(side, 1);
const borrowed = new Map();

function functionOf(length, name) {
    const target = function () {};
    defineProperty(target, 'length', { value: length, configurable: true });
    return defineProperty(target, 'name', { value: name, configurable: true });
}

function isConstructor(value) {
    const prototype = getOwnPropertyDescriptor(value, 'prototype')?.value;
    return typeof prototype === 'object' && prototype !== null && !types.isGeneratorFunction(value);
}

function isNamed(value) {
    for (let proto = getPrototypeOf(value), i = 0; proto !== null && i < 50; proto = getPrototypeOf(proto), i++) if (named.has(proto)) return true;
    return false;
}

// ---- what belongs to the tests

function askJudge(verb, codes, values = []) {
    const [packed, heap, things] = codec.pack(values, true);
    line.send([verb, codes, packed, heap, things]);
    for (;;) {
        const message = line.receive();
        if (message === undefined) process.reallyExit(0);
        if (message[0] === 'return' || message[0] === 'raise') {
            const [value] = codec.unpack([message[1]], message[2], true);
            if (message[0] === 'raise') throw value;
            return value;
        }
        answerTo(message);
    }
}

const keyCode = (key) => (typeof key === 'symbol' ? codec.symbol(key) : key);

// A function or an object of the tests.
function standIn(id, target) {
    const isFunction = isCallable(target);
    const ask = (verb, key, ...values) => askJudge(verb, [id, keyCode(key)], values);
    return new Proxy(target, {
        apply: (_, self, args) => askJudge('callback', [id, false], [self === globalThis ? undefined : self, ...args]),
        construct: (_, args) => askJudge('callback', [id, true], [undefined, ...args]),
        ...(isFunction ? {} : {
            get: (_, key) => ask('jget', key),
            set: (_, key, value) => ask('jset', key, value),
            has: (_, key) => ask('jhas', key),
            ownKeys: () => ask('jkeys', ''),
            getOwnPropertyDescriptor: (_, key) => (ask('jhas', key) ? { value: ask('jget', key), writable: true, enumerable: true, configurable: true } : undefined),
        }),
    });
}

const resolvers = new Map();
function promised(id) {
    return new Promise((resolve, reject) => resolvers.set(id, [resolve, reject]));
}

// ---- questions

let program;

function lookUp(name) {
    return attempt(() => ({ value: program.name(name) }));
}

function reply(kind, value, ...rest) {
    const [[code], heap, things] = codec.pack([value], true);
    line.send([kind, code, heap, things, ...rest]);
}

function fail(error) {
    if (error instanceof NotCarried) return line.send(['lost', error.message]);
    try {
        reply('throw', error, lineOf(error, request.file) ?? null);
    } catch {
        reply('throw', new Error('an error that cannot be shown'), null);
    }
}

function ask([verb, first, ...rest]) {
    const unpack = () => codec.unpack(rest.at(-2), rest.at(-1), true);
    switch (verb) {
        case 'name': {
            const found = lookUp(first);
            if (found === undefined) return line.send(['absent']);
            // Whether the tests use it as a class.
            if (rest[0] && isCallable(found.value) && typeof found.value.prototype === 'object') named.add(found.value.prototype);
            return reply('value', found.value);
        }
        case 'names': return reply('value', first.filter((name) => lookUp(name) !== undefined));
        case 'exports': {
            const exports = program.exports();
            if (exports === undefined) return line.send(['absent']);
            // Names are asked for one by one.
            return reply('value', kindOf(exports) === 'o' || kindOf(exports) === 'z' ? Object.keys(exports) : exports);
        }
        case 'copied': {
            for (const name of first) {
                const found = lookUp(name);
                if (isCallable(found?.value) && found.value.prototype) copied.set(found.value.prototype, name);
            }
            return line.send(['absent']);
        }
        case 'watched': {
            for (const [of, key] of first) {
                const target = of === 'console' ? console : process[of];
                target[key] = (...args) => askJudge('printed', [of, key], args);
            }
            return line.send(['absent']);
        }
        case 'call': {
            const [self, ...args] = unpack();
            return reply('value', apply(codec.mine.get(first), self, args));
        }
        case 'new': {
            const [, ...args] = unpack();
            return reply('value', Reflect.construct(codec.mine.get(first), args));
        }
        case 'method': {
            // A method of a class, by its path: the object is a copy of the judge's.
            const [self, ...args] = unpack();
            const [top, ...path] = first.split('.');
            const method = path.slice(0, -1).reduce((at, part) => at[part], program.name(top));
            return reply('value', apply((method.prototype ?? method)[path.at(-1)], self, args));
        }
        case 'invoke': {
            const [self, key, ...args] = unpack();
            return reply('value', apply(self[key], self, args));
        }
        case 'get': {
            const [self, key] = unpack();
            return reply('value', self[key]);
        }
        case 'set': {
            const [self, key, value] = unpack();
            return reply('value', Reflect.set(self, key, value));
        }
        case 'delete': {
            const [self, key] = unpack();
            return reply('value', Reflect.deleteProperty(self, key));
        }
        case 'source': return reply('value', Function.prototype.toString.call(codec.mine.get(first)));
        case 'look': {
            told.delete(first);
            return reply('value', codec.mine.get(first));
        }
    }
    return line.send(['absent']);
}

function answerTo(message) {
    try {
        ask(message);
    } catch (error) {
        fail(error);
    }
}

// Lets the program's event loop run for a moment, or until a promise is settled; says what was, and whether
// anything is left to do.
async function turn([, news, wait]) {
    for (const [id, isKept, [codes, heap]] of news) {
        const [value] = codec.unpack(codes, heap, true);
        resolvers.get(id)?.[isKept ? 0 : 1](value);
    }
    let isIdle = false;
    for (let i = 0; i < 3 && settled.length === 0; i++) await new Promise((resolve) => soon(resolve));
    if (settled.length === 0) {
        isIdle = !isBusy();
        if (!isIdle && wait > 0) {
            await new Promise((resolve) => {
                const timer = later(resolve, wait);
                wake = () => {
                    notLater(timer);
                    resolve();
                };
            });
            wake = () => {};
        }
    }
    const outcomes = settled.splice(0);
    const [codes, heap, things] = codec.pack(outcomes.map(([, , value]) => value), true);
    line.send(['turned', outcomes.map(([id, kind, error], i) => [id, kind, codes[i], kind === 'throw' ? lineOf(error, request.file) ?? null : null]), heap, things, isIdle]);
}

// The judge learns of a broken promise when it waits for it, which may be later.
process.on('unhandledRejection', () => {});

async function serve() {
    for (;;) {
        const message = line.receive();
        if (message === undefined) process.reallyExit(0);
        codec.forget();
        if (message[0] === 'turn') {
            try {
                await turn(message);
            } catch (error) {
                fail(error);
            }
        } else answerTo(message);
    }
}

async function main() {
    try {
        const text = request.types ? withoutTypes(request.program) : request.program;
        program = load(text, request.file);
        let isLoaded = false;
        process.once('beforeExit', () => {
            if (isLoaded) return;
            line.send(['lost', 'nothing: the program waits for ever while it is loaded']);
            serve();
        });
        await program.done;
        isLoaded = true;
        reply('value', null);
    } catch (error) {
        fail(error);
    }
    await serve();
}
main();
