// Runs the program under test, and answers what the judge asks. Nothing here is believed: whatever is done to this process, it can
// only send values, and the judge looks at each of them as at any other result.
const [requestFd, recordFd, inputFd, outputFd] = process.argv.slice(-4).map(Number);
const request = parse(fs.readFileSync(requestFd, 'utf8'));
const line = new Line(inputFd, outputFd);
const codec = new Codec((id) => function (...args) { return callBack(id, args); }, true);
fs.writeSync(recordFd, 'started\n');

let program;

// The value of a name, `undefined` in a box of its own.
function lookUp(name) {
    try {
        return { value: program.name(name) };
    } catch {
        return undefined;
    }
}

function ask([verb, ...rest]) {
    const thing = codec.mine.get(rest[0]);
    switch (verb) {
        case 'name': {
            const found = lookUp(rest[0]);
            return found === undefined ? ['absent'] : ['value', codec.encode(found.value)];
        }
        case 'exports': {
            const exports = program.exports();
            return exports === undefined ? ['absent'] : ['value', codec.encode(exports)];
        }
        case 'call': case 'new': {
            const args = rest[2].map((item) => codec.decode(item));
            const before = rest[2].map((item) => stringify(item));
            const self = verb === 'call' ? codec.decode(rest[1]) : undefined;
            let outcome;
            try {
                const result = verb === 'call' ? Reflect.apply(thing, self, args) : Reflect.construct(thing, args);
                const same = typeof result === 'object' && result !== null ? args.indexOf(result) : -1;
                outcome = same >= 0 ? ['same', same] : ['value', codec.encode(result)];
            } catch (error) {
                outcome = failure(error);
            }
            const changed = [];
            args.forEach((item, i) => {
                if (typeof item !== 'object' || item === null) return;
                try {
                    const after = codec.encode(item);
                    if (stringify(after) !== before[i]) changed.push([i, after]);
                } catch { /* it cannot be carried back */ }
            });
            return [...outcome, changed];
        }
        case 'get': return ['value', codec.encode(Reflect.get(thing, key(rest[1])))];
        case 'set': return ['value', Reflect.set(thing, key(rest[1]), codec.decode(rest[2]))];
        case 'has': return ['value', Reflect.has(thing, key(rest[1]))];
        case 'delete': return ['value', Reflect.deleteProperty(thing, key(rest[1]))];
        case 'keys': return ['value', codec.encode(Reflect.ownKeys(thing).filter((k) => typeof k === 'string'))];
        case 'owns': {
            const found = Object.getOwnPropertyDescriptor(thing, key(rest[1]));
            return found ? ['value', codec.encode([found.enumerable, thing[key(rest[1])]])] : ['absent'];
        }
        case 'proto': {
            const proto = getPrototypeOf(thing);
            return proto === null || proto === Object.prototype || proto === Function.prototype
                ? ['absent'] : ['value', ['h', codec.lend(proto), '']];
        }
    }
    return ['absent'];
}

// Names of well-known symbols travel as `@@name`.
function key(text) {
    return text.startsWith('@@') ? Symbol[text.slice(2)] : text;
}

function failure(error) {
    if (error instanceof NotCarried) return ['lost', error.message];
    try {
        return ['throw', codec.encode(error), lineOf(error, request.file) ?? null];
    } catch {
        return ['throw', ['e', 'Error', 'an error that cannot be shown', [], null], null];
    }
}

function answer(message) {
    try {
        return ask(message);
    } catch (error) {
        return failure(error);
    }
}

// A function of the judge's is called; meanwhile the judge may ask again.
function callBack(id, args) {
    line.send(['callback', id, args.map((item) => codec.encode(item))]);
    for (;;) {
        const message = line.receive();
        if (message === undefined) process.exit(0);
        if (message[0] === 'return') return codec.decode(message[1]);
        if (message[0] === 'raise') throw codec.decode(message[1]);
        line.send(answer(message));
    }
}

// The judge learns of a broken promise when it waits for it, which may be later.
process.on('unhandledRejection', () => {});

let waiting = false;
process.on('beforeExit', () => {
    if (waiting) line.send(['stuck']);
    waiting = false;
    serve();
});

async function serve() {
    for (;;) {
        const message = line.receive();
        if (message === undefined) process.exit(0);
        if (message[0] === 'await') {
            waiting = true;
            let outcome;
            try {
                const value = await codec.mine.get(message[1]);
                outcome = ['value', codec.encode(value)];
            } catch (error) {
                outcome = failure(error);
            }
            if (!waiting) return;
            waiting = false;
            line.send(outcome);
        } else if (message[0] === 'turn') {
            await new Promise((resolve) => setTimeout(resolve, 1));
            line.send(['value', null]);
        } else {
            line.send(answer(message));
        }
    }
}

async function main() {
    try {
        const text = request.types ? withoutTypes(request.program) : request.program;
        waiting = true;
        program = await load(text, request.file);
        waiting = false;
        line.send(['value', null]);
    } catch (error) {
        waiting = false;
        line.send(failure(error));
    }
    await serve();
}
main();
