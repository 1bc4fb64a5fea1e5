// How values travel between the worker and the judge: JSON with tags. Data goes by value; functions and objects of classes stay
// where they are and are named by numbers. Everything needed is taken from the language before foreign code is loaded.
'use strict';

const LONGEST = 8 << 20;
const DEEPEST = 300;
const { isArray } = Array;
const { getPrototypeOf, defineProperty, is } = Object;
const { parse, stringify } = JSON;
const { types } = require('node:util');
const fs = require('node:fs');
const ERRORS = { __proto__: null, Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };
const ARRAYS = { __proto__: null };
for (const kind of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array]) ARRAYS[kind.name] = kind;

// A value that has no form in which it could travel.
class NotCarried extends Error {}

// Writes and reads lines on two descriptors, without an event loop.
class Line {
    constructor(input, output) {
        this.input = input;
        this.output = output;
        this.rest = Buffer.alloc(0);
    }

    send(message) {
        let bytes = Buffer.from(stringify(message) + '\n');
        while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(this.output, bytes));
    }

    // The next message; undefined when the other side is gone or says too much.
    receive() {
        const parts = [this.rest];
        let length = this.rest.length, end = this.rest.indexOf(10);
        while (end < 0) {
            const piece = Buffer.alloc(1 << 16);
            let count = 0;
            try {
                count = fs.readSync(this.input, piece);
            } catch {
                return undefined;
            }
            if (count === 0 || length > LONGEST) return undefined;
            const part = piece.subarray(0, count), at = part.indexOf(10);
            if (at >= 0) end = length + at;
            length += count;
            parts.push(part);
        }
        const bytes = Buffer.concat(parts);
        this.rest = bytes.subarray(end + 1);
        return parse(bytes.toString('utf8', 0, end));
    }
}

// One side's way of putting values into messages. `standIn(id, kind, name)` makes what represents a thing of the other side;
// `lends` says whether objects of classes may be named too, or only functions.
class Codec {
    constructor(standIn, lends) {
        this.standIn = standIn;
        this.lends = lends;
        this.mine = new Map();
        this.numbers = new Map();
        this.theirs = new Map();
        this.origins = new WeakMap();
    }

    lend(value) {
        let id = this.numbers.get(value);
        if (id === undefined) {
            id = this.mine.size;
            this.mine.set(id, value);
            this.numbers.set(value, id);
        }
        return id;
    }

    borrow(id, kind, name) {
        let value = this.theirs.get(id);
        if (value === undefined) {
            value = this.standIn(id, kind, name);
            this.theirs.set(id, value);
            this.origins.set(value, id);
        }
        return value;
    }

    encode(value, seen = new Map(), depth = 0) {
        switch (typeof value) {
            case 'string': case 'boolean': return value;
            case 'number': return Number.isFinite(value) && !is(value, -0) ? value : ['n', is(value, -0) ? '-0' : `${value}`];
            case 'undefined': return ['u'];
            case 'bigint': return ['b', `${value}`];
            case 'symbol': throw new NotCarried('a symbol');
        }
        if (value === null) return null;
        const origin = this.origins.get(value);
        if (origin !== undefined) return ['back', origin];
        if (typeof value === 'function') return ['f', this.lend(value), `${value.name}`];
        if (seen.has(value)) return ['ref', seen.get(value)];
        if (depth > DEEPEST) throw new NotCarried(`data nested more than ${DEEPEST} deep`);
        seen.set(value, seen.size);
        const inner = (item) => this.encode(item, seen, depth + 1);
        if (types.isProxy(value)) return this.object(value);
        if (isArray(value)) {
            const items = [];
            for (let i = 0; i < value.length; i++) items.push(i in value ? inner(value[i]) : ['x']);
            return getPrototypeOf(value) === Array.prototype ? ['a', items] : this.object(value);
        }
        if (types.isDate(value)) return ['d', inner(value.getTime())];
        if (types.isRegExp(value)) return ['r', value.source, value.flags];
        if (types.isMap(value)) return ['m', [...value].map(([k, v]) => [inner(k), inner(v)])];
        if (types.isSet(value)) return ['s', [...value].map(inner)];
        if (types.isNativeError(value)) return this.error(value, inner);
        if (types.isBoxedPrimitive(value)) return ['p', inner(value.valueOf())];
        const array = types.isTypedArray(value) && ARRAYS[value[Symbol.toStringTag]];
        if (array) return ['t', value[Symbol.toStringTag], Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')];
        const proto = getPrototypeOf(value);
        if (types.isPromise(value) || (proto !== null && getPrototypeOf(proto) !== null)) return this.object(value);
        // A plain object: of this realm or, as far as anybody can tell, of another one.
        if (proto !== null && proto !== Object.prototype && proto.constructor !== Object) return this.object(value);
        const keys = Reflect.ownKeys(value);
        // The prototype of a class looks like a plain object but for what it is the prototype of.
        const isPrototype = typeof Object.getOwnPropertyDescriptor(value, 'constructor')?.value === 'function';
        if (this.lends && (isPrototype || keys.some((key) => typeof key === 'symbol'))) return this.object(value);
        const entries = [];
        for (const key of keys) {
            if (typeof key === 'symbol') throw new NotCarried('a property named by a symbol');
            if (Object.getOwnPropertyDescriptor(value, key).enumerable) entries.push([key, inner(value[key])]);
        }
        return [proto === null ? 'z' : 'o', entries];
    }

    object(value) {
        if (types.isPromise(value)) {
            if (!this.lends) throw new NotCarried('a promise');
            return ['promise', this.lend(value)];
        }
        const name = (() => {
            try { return `${value.constructor.name}`; } catch { return 'Object'; }
        })();
        if (!this.lends) throw new NotCarried(`an object of the class ${name}`);
        return ['h', this.lend(value), name];
    }

    error(value, inner) {
        const proto = getPrototypeOf(value);
        const known = proto !== null && ERRORS[proto.name] !== undefined && ERRORS[proto.name].prototype === proto;
        const entries = [];
        for (const key of Object.keys(value)) {
            try { entries.push([key, inner(value[key])]); } catch { /* left out */ }
        }
        return ['e', `${value.name}`, `${value.message}`, entries, known || !this.lends ? null : ['h', this.lend(proto), '']];
    }

    decode(code, seen = []) {
        if (!isArray(code)) {
            if (typeof code === 'object' && code !== null) throw new Error('unreadable');
            return code;
        }
        const [tag, first, second, third, fourth] = code;
        const keep = (value) => (seen.push(value), value);
        const inner = (item) => this.decode(item, seen);
        const define = (target, key, value) =>
            defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
        switch (tag) {
            case 'n': return first === '-0' ? -0 : Number(first);
            case 'u': return undefined;
            case 'b': return BigInt(first);
            case 'ref': return seen[first];
            case 'back': return this.mine.get(first);
            case 'f': return this.borrow(first, 'f', `${second}`);
            case 'h': return keep(this.borrow(first, 'h', `${second}`));
            case 'promise': return keep(this.borrow(first, 'promise', ''));
            case 'd': { const at = keep(null) ?? seen.length - 1; return (seen[at] = new Date(inner(first))); }
            case 'r': return keep(new RegExp(first, second));
            case 'p': { const at = keep(null) ?? seen.length - 1; return (seen[at] = Object(inner(first))); }
            case 't': {
                const bytes = Uint8Array.from(Buffer.from(first === undefined ? '' : second, 'base64'));
                return keep(new ARRAYS[first](bytes.buffer));
            }
            case 'a': {
                const array = keep([]);
                for (let i = 0; i < first.length; i++) {
                    if (isArray(first[i]) && first[i][0] === 'x') array.length = i + 1;
                    else define(array, i, inner(first[i]));
                }
                return array;
            }
            case 'm': {
                const map = keep(new Map());
                for (const [k, v] of first) map.set(inner(k), inner(v));
                return map;
            }
            case 's': {
                const set = keep(new Set());
                for (const item of first) set.add(inner(item));
                return set;
            }
            case 'o': case 'z': {
                const object = keep(tag === 'z' ? { __proto__: null } : {});
                for (const [key, item] of first) define(object, key, inner(item));
                return object;
            }
            case 'e': {
                const error = keep(new (ERRORS[first] ?? Error)(`${second}`));
                if (fourth) Object.setPrototypeOf(error, this.borrow(fourth[1], 'h', ''));
                if (error.name !== first) defineProperty(error, 'name', { value: `${first}`, writable: true, configurable: true });
                for (const [key, item] of third) define(error, key, inner(item));
                return error;
            }
        }
        throw new Error('unreadable');
    }
}

// Makes `target` hold what `fresh` holds: for arguments that were changed in place.
function become(target, fresh) {
    if (isArray(target) && isArray(fresh)) {
        target.length = 0;
        for (let i = 0; i < fresh.length; i++) if (i in fresh) target[i] = fresh[i];
        target.length = fresh.length;
    } else if (types.isMap(target)) {
        target.clear();
        for (const [k, v] of fresh) target.set(k, v);
    } else if (types.isSet(target)) {
        target.clear();
        for (const item of fresh) target.add(item);
    } else if (types.isTypedArray(target)) {
        target.set(fresh);
    } else if (types.isDate(target)) {
        target.setTime(fresh.getTime());
    } else if (typeof target === 'object' && target !== null && typeof fresh === 'object' && fresh !== null) {
        for (const key of Object.keys(target)) if (!Object.hasOwn(fresh, key)) delete target[key];
        for (const key of Object.keys(fresh)) {
            defineProperty(target, key, { value: fresh[key], writable: true, enumerable: true, configurable: true });
        }
    }
}
