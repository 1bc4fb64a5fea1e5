// Equality as `expect` has it.

// What `expect.any` and its like are made of: they say themselves whether a value meets them.
class Asymmetric {
    constructor(name, meets, sample, isInverse = false) {
        this.sample = sample;
        defineProperty(this, 'name', { value: name });
        defineProperty(this, 'asymmetricMatch', { value: (value) => meets(value) !== isInverse });
    }

    [inspect.custom](_, options) {
        return this.sample === undefined ? this.name : `${this.name}<${inspect(this.sample, options)}>`;
    }
}

const isAsymmetric = (value) => value instanceof Asymmetric || (typeof value === 'object' && value !== null && handleFor(value) === undefined
    && !types.isProxy(value) && typeof value.asymmetricMatch === 'function');
const classWord = (value) => Object.prototype.toString.call(value);

// Whether `left` equals `right`. Strictly, properties that are `undefined`, holes and classes count, too.
function equals(left, right, isStrict = false, pairs = []) {
    const isLeft = isAsymmetric(left), isRight = isAsymmetric(right);
    if (isRight && !isLeft) return right.asymmetricMatch(left) === true;
    if (isLeft && !isRight) return left.asymmetricMatch(right) === true;
    if (is(left, right)) return true;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
    if (classWord(left) !== classWord(right) || isArray(left) !== isArray(right)) return false;
    if (types.isNativeError(left) && types.isNativeError(right)) {
        return left.message === right.message && left.name === right.name && equals(left.cause, right.cause, isStrict, pairs);
    }
    if (isStrict && kindOfClass(left) !== kindOfClass(right)) return false;
    if (types.isDate(left)) return types.isDate(right) && is(left.getTime(), right.getTime());
    if (types.isRegExp(left)) return types.isRegExp(right) && left.source === right.source && left.flags === right.flags;
    if (types.isBoxedPrimitive(left)) return types.isBoxedPrimitive(right) && is(left.valueOf(), right.valueOf());
    if (types.isAnyArrayBuffer(left)) return types.isAnyArrayBuffer(right) && isDeepStrictEqual(left, right);
    if (types.isPromise(left) || types.isPromise(right)) return false;
    if (pairs.some(([one, other]) => one === left && other === right)) return true;
    const inner = [...pairs, [left, right]];
    const same = (one, other) => equals(one, other, isStrict, inner);
    if (types.isMap(left) || types.isSet(left)) {
        if (types.isMap(left) !== types.isMap(right) || left.size !== right.size) return false;
        const rest = [...right];
        return [...left].every((item) => {
            const at = rest.findIndex((other) => same(item, other));
            if (at >= 0) rest.splice(at, 1);
            return at >= 0;
        });
    }
    if ((isArray(left) || types.isTypedArray(left)) && left.length !== right.length) return false;
    const keys = (value) => ownKeys(value).filter((key) => getOwnPropertyDescriptor(value, key)?.enumerable && (isStrict || value[key] !== undefined));
    const names = keys(left);
    return names.length === keys(right).length && names.every((key) => hasOwn(right, key) && same(left[key], right[key]));
}

const kindOfClass = (value) => {
    const proto = getPrototypeOf(value);
    return proto === null || proto === Object.prototype ? Object.prototype : proto;
};

// Whether `value` has all that `part` has, at every depth.
function holds(value, part, pairs = []) {
    if (isAsymmetric(part) || typeof part !== 'object' || part === null || typeof value !== 'object' || value === null) return equals(value, part);
    if (isArray(part)) return isArray(value) && value.length === part.length && part.every((item, i) => holds(value[i], item, pairs));
    if (kindOf(part) !== 'o' && kindOf(part) !== 'z' && kindOf(part) !== undefined) return equals(value, part);
    if (pairs.includes(part)) return true;
    return ownKeys(part).every((key) => key in value && holds(value[key], part[key], [...pairs, part]));
}

function isOfType(value, type) {
    const primitives = new Map([[String, 'string'], [Number, 'number'], [Boolean, 'boolean'], [BigInt, 'bigint'], [Symbol, 'symbol'], [Function, 'function']]);
    if (primitives.has(type)) return typeof value === primitives.get(type) || value instanceof type;
    if (type === Object) return typeof value === 'object' && value !== null;
    if (type === Array) return isArray(value);
    return value instanceof type;
}

const textHolds = (part) => (value) => typeof value === 'string' && value.includes(part);
const textMatches = (pattern) => (value) => typeof value === 'string' && new RegExp(pattern).test(value);
const asymmetric = (name, meets) => [
    (sample) => new Asymmetric(name, meets(sample), sample),
    (sample) => new Asymmetric(`not.${name}`, meets(sample), sample, true),
];
const ASYMMETRIC = {
    __proto__: null,
    any: asymmetric('any', (type) => (value) => isOfType(value, type)),
    objectContaining: asymmetric('objectContaining', (part) => (value) => Object(value) === value
        && ownKeys(part).every((key) => key in value && equals(value[key], part[key]))),
    arrayContaining: asymmetric('arrayContaining', (part) => (value) => isArray(value) && part.every((item) => value.some((each) => equals(each, item)))),
    arrayOf: asymmetric('arrayOf', (item) => (value) => isArray(value) && value.every((each) => equals(each, item))),
    stringContaining: asymmetric('stringContaining', textHolds),
    stringMatching: asymmetric('stringMatching', textMatches),
    closeTo: [(near, digits) => new Asymmetric('closeTo', (value) => isClose(value, near, digits), near)],
    anything: [() => new Asymmetric('anything', (value) => value !== null && value !== undefined)],
};

function isClose(value, near, digits = 2) {
    return typeof value === 'number' && (value === near || Math.abs(value - near) < 10 ** -digits / 2);
}
