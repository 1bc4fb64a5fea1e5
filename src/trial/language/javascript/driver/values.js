// How values cross between the worker and the judge: as plain data, read by the base type's own slots and
// written down once. What has an identity is a node of a graph, which both sides know by a number. What is no
// data stays where it is and is named by a number.
'use strict';

// A value that has no form in which it could cross.
class NotCarried extends Error {}

const uncurried = (method) => (self, ...args) => apply(method, self, args);
const getter = (of, key) => uncurried(getOwnPropertyDescriptor(of, key).get);
const slots = {
    map: uncurried(Map.prototype.forEach),
    set: uncurried(Set.prototype.forEach),
    time: uncurried(Date.prototype.getTime),
    source: getter(RegExp.prototype, 'source'),
    flags: getter(RegExp.prototype, 'flags'),
    kind: getter(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag),
    bytes: {
        buffer: getter(getPrototypeOf(Uint8Array.prototype), 'buffer'),
        start: getter(getPrototypeOf(Uint8Array.prototype), 'byteOffset'),
        length: getter(getPrototypeOf(Uint8Array.prototype), 'byteLength'),
    },
    boxed: [String, Number, Boolean, BigInt, Symbol].map((of) => uncurried(of.prototype.valueOf)),
};
const ERRORS = { __proto__: null, Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };
const ARRAYS = { __proto__: null, Buffer };
for (const kind of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array]) ARRAYS[kind.name] = kind;
const WELL_KNOWN = { __proto__: null };
for (const name of Object.getOwnPropertyNames(Symbol)) if (typeof Symbol[name] === 'symbol') WELL_KNOWN[name] = Symbol[name];
const wellKnown = new Map(Object.entries(WELL_KNOWN).map(([name, symbol]) => [symbol, name]));
const NOTHING = ['u'];

// Prototypes that both sides have, by name.
const generator = getPrototypeOf(getPrototypeOf((function* () {})()));
const asyncGenerator = getPrototypeOf(getPrototypeOf((async function* () {})()));
const INTRINSICS = {
    __proto__: null, Object: Object.prototype, Function: Function.prototype, Generator: generator, Iterator: getPrototypeOf(generator),
    AsyncGenerator: asyncGenerator, AsyncIterator: getPrototypeOf(asyncGenerator), EventEmitter: require('node:events').prototype,
};
const CLASSES = [Object, Array, Map, Set, WeakMap, WeakSet, Date, RegExp, Promise, ArrayBuffer, String, Number, Boolean, AggregateError,
    ...Object.values(ERRORS), ...Object.values(ARRAYS)];
for (const of of [...CLASSES, URL, URLSearchParams]) INTRINSICS[of.name] = of.prototype;
const intrinsicNames = new Map(Object.entries(INTRINSICS).map(([name, proto]) => [proto, name]));
// Functions that are the same on both sides; none of them runs text.
const SAME = { __proto__: null };
for (const of of [...CLASSES, BigInt, Symbol, parseInt, parseFloat, isNaN, isFinite]) SAME[of.name] = of;
const sameNames = new Map(Object.entries(SAME).map(([name, of]) => [of, name]));
// Those whose methods are the judge's own on whatever comes from the code.
const ENDS = new Set(['Object', 'Function', 'Iterator', 'AsyncIterator', 'AggregateError', 'AssertionError', ...Object.keys(ERRORS)]);

// How many of the nodes that crossed last are looked at again with every message, and how large these may be.
const RECENT = 24;
const LARGE = 64;
const MANY = 256;
const MOST_PARTS = 50000;

// The name of the class of errors that an error belongs to by its prototypes.
function errorKind(error) {
    for (let proto = getPrototypeOf(error), i = 0; proto !== null && i < 50; proto = getPrototypeOf(proto), i++) {
        for (const name in ERRORS) if (ERRORS[name].prototype === proto) return name;
    }
    return 'Error';
}

// What kind of data a value is; undefined if it is none.
function kindOf(value) {
    if (types.isProxy(value)) return undefined;
    if (isArray(value)) return 'a';
    if (types.isMap(value)) return 'm';
    if (types.isSet(value)) return 's';
    if (types.isDate(value)) return 'd';
    if (types.isRegExp(value)) return 'r';
    if (types.isNativeError(value)) return 'e';
    if (types.isBoxedPrimitive(value)) return 'p';
    if (types.isTypedArray(value)) return 't';
    if (types.isArrayBuffer(value)) return 'ab';
    const proto = getPrototypeOf(value);
    if (proto === null) return 'z';
    // A plain object: of this realm or, as far as anybody can tell, of another one.
    if (proto === Object.prototype) return 'o';
    return getPrototypeOf(proto) === null && hasOwn(proto, 'hasOwnProperty') ? 'o' : undefined;
}

// One side's way of putting values into messages. The side says what becomes of things that are no data:
// `lend(value)` gives their code, `describe` adds what is to be said of them, `borrow(code)` gives what
// represents them here, `classOf(value)` the name of a class that both sides have, `prototypeOf(name)` its
// prototype.
class Codec {
    constructor(side, first) {
        this.side = side;
        this.next = first;
        this.parity = first % 2;
        this.ids = new WeakMap();
        this.nodes = new Map();
        this.symbols = new Map();
        this.mine = new Map();
        this.numbers = new Map();
        this.origins = new WeakMap();
        this.recent = new Map();
    }

    // ---- things that stay

    lent(value) {
        let id = this.numbers.get(value);
        if (id === undefined) {
            id = this.mine.size;
            this.mine.set(id, value);
            this.numbers.set(value, id);
        }
        return id;
    }

    // ---- writing

    // The codes of these values and the contents of all nodes that they consist of.
    pack(values, alsoChanged = false) {
        const heap = [], things = [], queue = [], seen = new Set();
        const encode = (value) => this.encode(value, (id, node) => {
            if (!seen.has(id)) {
                seen.add(id);
                queue.push([id, node]);
            }
        });
        const codes = values.map(encode);
        const drain = () => {
            // The queue grows meanwhile.
            for (const [id, node] of queue) {
                const content = this.content(node, encode);
                if (heap.push([id, content]) > MOST_PARTS) throw new NotCarried(`data of more than ${MOST_PARTS} parts`);
                if (heap.length < MANY) this.remember(id, node, content);
            }
            queue.length = 0;
            if (this.side.describe(things, encode)) drain();
        };
        drain();
        if (alsoChanged) {
            for (const [id, { node, text }] of [...this.recent]) {
                if (seen.has(id)) continue;
                let content;
                try {
                    content = this.content(node, encode);
                } catch {
                    continue;
                }
                if (stringify(content) === text) continue;
                seen.add(id);
                heap.push([id, content]);
                this.remember(id, node, content);
            }
            drain();
        }
        return [codes, heap, things];
    }

    remember(id, node, content) {
        const text = stringify(content);
        this.recent.delete(id);
        this.recent.set(id, { node, text });
    }

    // Forgets what crossed long ago or is large.
    forget() {
        if (this.recent.size > RECENT) {
            let more = this.recent.size - RECENT;
            for (const id of this.recent.keys()) if (more-- > 0) this.recent.delete(id);
        }
        for (const [id, { text }] of this.recent) if (text.length > LARGE * 16) this.recent.delete(id);
    }

    encode(value, visit) {
        switch (typeof value) {
            case 'string': case 'boolean': return value;
            case 'number': return Number.isFinite(value) && !is(value, -0) ? value : ['n', is(value, -0) ? '-0' : `${value}`];
            case 'undefined': return NOTHING;
            case 'bigint': return ['b', `${value}`];
            case 'symbol': return this.symbol(value);
        }
        if (value === null) return null;
        const origin = this.origins.get(value);
        if (origin !== undefined) return ['back', origin];
        if (sameNames.has(value)) return ['same', sameNames.get(value)];
        let id = this.ids.get(value);
        if (id === undefined) {
            if (typeof value === 'function' || !this.isData(value)) return this.side.lend(value);
            id = this.next;
            this.next += 2;
            this.know(id, value);
        }
        visit(id, value);
        return ['#', id];
    }

    isData(value) {
        return this.side.isData(value, kindOf(value)) || this.side.classOf(value) !== undefined;
    }

    know(id, value) {
        this.ids.set(value, id);
        this.nodes.set(id, new WeakRef(value));
    }

    symbol(value) {
        const name = wellKnown.get(value), key = Symbol.keyFor(value);
        if (name !== undefined) return ['y', name];
        if (key !== undefined) return ['yr', key];
        let id = this.symbols.get(value);
        if (id === undefined) {
            id = this.next;
            this.next += 2;
            this.symbols.set(value, id).set(id, value);
        }
        return ['yo', id, `${value.description ?? ''}`];
    }

    // What a node is made of.
    content(node, encode) {
        const frozen = Object.isExtensible(node) ? 0 : Object.isFrozen(node) ? 3 : Object.isSealed(node) ? 2 : 1;
        const entries = (keys) => {
            const found = [];
            for (const key of keys) {
                const descriptor = getOwnPropertyDescriptor(node, key);
                if (!descriptor?.enumerable) continue;
                const value = 'value' in descriptor ? descriptor.value : node[key];
                found.push([typeof key === 'symbol' ? this.symbol(key) : key, encode(value)]);
            }
            return found;
        };
        const own = this.side.classOf(node);
        if (own !== undefined) return ['c', frozen, own, entries(ownKeys(node))];
        const kind = kindOf(node);
        switch (kind) {
            case 'a': {
                const items = [], { length } = node;
                let filled = 0;
                for (let i = 0; i < length; i++) {
                    const isThere = hasOwn(node, i);
                    if (isThere) filled++;
                    items.push(isThere ? encode(node[i]) : ['x']);
                }
                const keys = ownKeys(node);
                return keys.length === filled + 1 ? [kind, frozen, items]
                    : [kind, frozen, items, entries(keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key)))];
            }
            case 'm': {
                const pairs = [];
                slots.map(node, (value, key) => pairs.push([encode(key), encode(value)]));
                return [kind, frozen, pairs];
            }
            case 's': {
                const items = [];
                slots.set(node, (item) => items.push(encode(item)));
                return [kind, frozen, items];
            }
            case 'd': return [kind, frozen, encode(slots.time(node))];
            case 'r': return [kind, frozen, slots.source(node), slots.flags(node), encode(node.lastIndex)];
            case 'p': {
                for (const slot of slots.boxed) try { return [kind, frozen, encode(slot(node))]; } catch { /* another kind */ }
                return [kind, frozen, null];
            }
            case 't': {
                const name = Buffer.isBuffer(node) ? 'Buffer' : slots.kind(node);
                const { buffer, start, length } = slots.bytes;
                return [kind, frozen, name, Buffer.from(buffer(node), start(node), length(node)).toString('base64')];
            }
            case 'ab': return [kind, frozen, Buffer.from(node).toString('base64')];
            case 'e': {
                const known = errorKind(node), proto = getPrototypeOf(node);
                const hidden = ['message', 'cause', 'errors', 'name'].filter((key) => getOwnPropertyDescriptor(node, key)?.enumerable === false);
                const pairs = hidden.map((key) => [key, encode(node[key])]);
                const more = ownKeys(node).filter((key) => !hidden.includes(key) && key !== 'stack');
                const base = proto === ERRORS[known].prototype ? null : this.side.lendPrototype(proto, node);
                return [kind, frozen, known, pairs, entries(more), base, `${node.name}`];
            }
            case 'z': case 'o': return [kind, frozen, entries(ownKeys(node))];
        }
        throw new NotCarried('something without a form');
    }

    // ---- reading

    // The values of these codes. Nodes known before get their new content, those of this side only if they
    // `mayChange`.
    unpack(codes, heap, mayChange) {
        const fresh = new Map();
        for (const [id, content] of heap) {
            const known = this.nodes.get(id)?.deref();
            if (known === undefined) this.shell(id, content);
            else if (!mayChange && id % 2 === this.parity) continue;
            fresh.set(id, content);
        }
        for (const [id, content] of fresh) this.fill(this.nodes.get(id).deref(), content);
        const values = codes.map((code) => this.decode(code));
        // Only what was read whole is remembered, in the form in which this side would write it.
        for (const id of fresh.keys()) {
            const node = this.nodes.get(id)?.deref();
            if (node === undefined || !this.side.mustRemember(fresh.get(id), heap.length)) {
                this.recent.delete(id);
                continue;
            }
            try {
                this.remember(id, node, this.content(node, (value) => this.encode(value, () => {})));
            } catch { /* it has changed meanwhile */ }
        }
        return values;
    }

    // An empty node.
    shell(id, [kind, , first, second]) {
        const node = this.empty(kind, first, second);
        this.know(id, node);
        // Kept until it is filled.
        this.recent.set(id, { node, text: '' });
    }

    empty(kind, first, second) {
        switch (kind) {
            case 'a': return [];
            case 'o': return {};
            case 'z': return { __proto__: null };
            case 'm': return new Map();
            case 's': return new Set();
            case 'd': return new Date(NaN);
            case 'r': return new RegExp(`${first}`, `${second}`);
            case 'p': return Object(this.decode(first));
            case 't': {
                const bytes = Buffer.from(`${second}`, 'base64');
                return first === 'Buffer' ? bytes : new ARRAYS[first](Uint8Array.from(bytes).buffer);
            }
            case 'ab': return Uint8Array.from(Buffer.from(`${first}`, 'base64')).buffer;
            case 'e': return new ERRORS[first]();
            case 'c': return Object.create(this.side.prototypeOf(first));
        }
        throw new NotCarried('something unreadable');
    }

    fill(node, [kind, frozen, first, second, third, fourth, fifth]) {
        const isOwn = this.side.classOf(node) !== undefined;
        const isMine = this.ids.get(node) % 2 === this.parity;
        if (kindOf(node) !== kind && !isOwn) throw new NotCarried('something that became something else');
        if (Object.isFrozen(node) && frozen === 3 && kind !== 'm' && kind !== 's') return;
        const put = (key, value, enumerable = true) => {
            const old = getOwnPropertyDescriptor(node, key);
            if (old !== undefined && (!old.configurable || old.enumerable === enumerable)) {
                if ('value' in old && old.writable) node[key] = value;
                else if (old.set) node[key] = value;
                return;
            }
            if (Object.isExtensible(node)) defineProperty(node, key, { value, writable: true, enumerable, configurable: true });
        };
        const define = (entries, isKept = () => false) => {
            const names = entries.map(([key]) => (isArray(key) ? this.decode(key) : `${key}`));
            for (const key of ownKeys(node)) {
                if (!names.includes(key) && !isKept(key) && getOwnPropertyDescriptor(node, key).enumerable) delete node[key];
            }
            entries.forEach(([, code], i) => {
                const value = this.decode(code);
                if (isMine || this.side.isKept(node, names[i], value, kind === 'o' || kind === 'z')) put(names[i], value);
            });
        };
        switch (kind) {
            case 'a': {
                const isIndex = (key) => typeof key === 'string' && (/^\d+$/.test(key) || key === 'length');
                for (let i = 0; i < first.length; i++) {
                    if (isArray(first[i]) && first[i][0] === 'x') delete node[i];
                    else if (hasOwn(node, i)) node[i] = this.decode(first[i]);
                    else defineProperty(node, i, { value: this.decode(first[i]), writable: true, enumerable: true, configurable: true });
                }
                if (node.length !== first.length) node.length = first.length;
                if (second !== undefined || ownKeys(node).some((key) => !isIndex(key))) define(second ?? [], isIndex);
                break;
            }
            case 'm': {
                node.clear();
                for (const [key, value] of first) node.set(this.decode(key), this.decode(value));
                break;
            }
            case 's': {
                node.clear();
                for (const item of first) node.add(this.decode(item));
                break;
            }
            case 'd': node.setTime(this.decode(first)); break;
            case 'r': node.lastIndex = this.decode(third); break;
            case 't': {
                const bytes = Buffer.from(`${second}`, 'base64');
                const there = Buffer.from(node.buffer, node.byteOffset, node.byteLength);
                bytes.copy(there);
                break;
            }
            case 'ab': Buffer.from(`${first}`, 'base64').copy(Buffer.from(node)); break;
            case 'e': {
                if (fourth !== null) this.side.setPrototype(node, fourth);
                for (const [key, code] of second) put(`${key}`, this.decode(code), false);
                define(third);
                if (`${node.name}` !== fifth) put('name', `${fifth}`, false);
                break;
            }
            case 'c': define(second); break;
            case 'o': case 'z': define(first); break;
        }
        if (frozen === 1) Object.preventExtensions(node);
        else if (frozen === 2) Object.seal(node);
        else if (frozen === 3) Object.freeze(node);
    }

    decode(code) {
        if (!isArray(code)) {
            if (typeof code === 'object' && code !== null) throw new NotCarried('something unreadable');
            return code;
        }
        const [tag, first, second] = code;
        switch (tag) {
            case 'n': return first === '-0' ? -0 : Number(first);
            case 'u': return undefined;
            case 'b': return BigInt(first);
            case 'y': return WELL_KNOWN[first];
            case 'same': return SAME[first];
            case 'yr': return Symbol.for(`${first}`);
            case 'yo': {
                let symbol = this.symbols.get(first);
                if (symbol === undefined) {
                    symbol = Symbol(`${second}`);
                    this.symbols.set(first, symbol).set(symbol, first);
                }
                return symbol;
            }
            case '#': {
                const node = this.nodes.get(first)?.deref();
                if (node === undefined) throw new NotCarried('something that is not there');
                return node;
            }
            case 'back': {
                if (!this.mine.has(first)) throw new NotCarried('something that is not there');
                return this.mine.get(first);
            }
        }
        return this.side.borrow(code);
    }
}
