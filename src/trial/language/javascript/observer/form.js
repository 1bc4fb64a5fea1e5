'use strict';
// Forms of values: texts that are equal for values that are equal. All functions they need are saved before
// other code could replace them.
const forms = (() => {
  const { types, inspect } = require('node:util');
  const { apply, getPrototypeOf: baseOf } = Reflect;
  const { isArray } = Array;
  const { keys: ownKeys, getOwnPropertyNames: ownNames, getOwnPropertyDescriptor: describe } = Object;
  const { test } = RegExp.prototype;
  const { isInteger } = Number;
  const { stringify } = JSON;
  const { abs, imul, min } = Math;
  const { charCodeAt, replaceAll, slice } = String.prototype;
  const { join, sort } = Array.prototype;
  const { toPrecision, toString: digits } = Number.prototype;
  const { from } = Buffer;
  const decode = Buffer.prototype.toString;
  const [eachOfMap, eachOfSet] = [Map.prototype.forEach, Set.prototype.forEach];
  const [timeOf, textOf] = [Date.prototype.getTime, RegExp.prototype.toString];
  const { iterator, asyncIterator } = Symbol;
  const word = String;
  const plain = Object.prototype;
  const all = globalThis;
  // The folder of the calls has one name in reports: each run has another one.
  const home = process.cwd();
  const atHome = (text) => apply(replaceAll, text, [home, '/run']);

  const DEEPEST = 50;
  const MOST_ITEMS = 1000;
  const MOST_VALUES = 20000;
  const LONGEST = 200;
  const COLUMNS = 200;
  const READING = /^(get|is|has|to|as|size|len|length|count|values|items|keys|entries|peek|top|first|last|total|sum|list|all)(?![a-z])/;

  // Shared with the other parts. `saidOf` tells what a stub says of itself.
  const shared = { __proto__: null };

  // A value that says nothing when it is compared, such as a function.
  const incomparable = { __proto__: null };

  const number = (value) => {
    // The text of -0 is that of 0.
    if (isInteger(value) && abs(value) < 1e15) return word(value);
    // Results of the same formula in another order differ in the last digits.
    return word(+apply(toPrecision, value, [9]));
  };

  const nameOf = (value) => {
    const { constructor } = value;
    return typeof constructor === 'function' && typeof constructor.name === 'string' ? constructor.name : 'Object';
  };

  const isIterator = (value) => shared.saidOf?.(value) === undefined && typeof value.next === 'function' && typeof value[iterator] === 'function';

  // The first values of what can be iterated.
  const items = (value) => {
    const found = [];
    for (const one of value) {
      found[found.length] = one;
      if (found.length === MOST_ITEMS) break;
    }
    return found;
  };

  const asyncItems = async (value) => {
    const found = [];
    for await (const one of value) {
      found[found.length] = one;
      if (found.length === MOST_ITEMS) break;
    }
    return found;
  };

  // `isLenient`: functions are all the same, where only a change is looked for.
  const form = (top, isLenient) => {
    const open = [];
    let count = 0;
    const opaque = (name) => {
      if (isLenient) return name;
      throw incomparable;
    };
    const list = (values) => {
      const length = values.length;
      const told = [];
      for (let at = 0; at < min(length, MOST_ITEMS); at++) told[at] = of(values[at]);
      return `[${apply(join, told, [', '])}]${length > MOST_ITEMS ? ` of ${length}` : ''}`;
    };
    const sorted = (told) => `{${apply(join, apply(sort, told, []), [', '])}}`;
    const fields = (value, keys) => {
      const told = [];
      for (let at = 0; at < min(keys.length, MOST_ITEMS); at++) told[at] = `${stringify(keys[at])}: ${of(value[keys[at]])}`;
      return sorted(told);
    };
    // An instance without fields may keep its state where nobody sees it.
    const bare = (value, name) => {
      if (typeof value[iterator] === 'function') return name + list(items(value));
      if (typeof value.toJSON === 'function') return name + of(value.toJSON());
      if (typeof value.toString === 'function' && value.toString !== plain.toString) return name + stringify(word(value));
      const seen = views(value);
      return name + (seen === '{}' ? opaque('{}') : seen);
    };
    // Private state shows in what an object says of itself: getters, and methods without parameters that read.
    const views = (value) => {
      const told = [];
      for (let base = baseOf(value); base !== null && base !== plain; base = baseOf(base)) {
        const names = ownNames(base);
        for (let at = 0; at < names.length; at++) {
          const { get, value: method } = describe(base, names[at]);
          const read = get ?? (typeof method === 'function' && method.length === 0 && apply(test, READING, [names[at]]) && method);
          if (!read || names[at] === 'constructor') continue;
          try {
            told[told.length] = `${stringify(names[at])}: ${of(apply(read, value, []))}`;
          } catch {
            // It says nothing.
          }
        }
      }
      return sorted(told);
    };
    const object = (value) => {
      if (isArray(value)) return list(value);
      if (types.isMap(value)) {
        const told = [];
        apply(eachOfMap, value, [(one, key) => (told[told.length] = `${of(key)} => ${of(one)}`)]);
        return `Map${sorted(told)}`;
      }
      if (types.isSet(value)) {
        const told = [];
        apply(eachOfSet, value, [(one) => (told[told.length] = of(one))]);
        return `Set${sorted(told)}`;
      }
      if (types.isDate(value)) return `Date ${apply(timeOf, value, [])}`;
      if (types.isRegExp(value)) return `RegExp ${apply(textOf, value, [])}`;
      if (types.isTypedArray(value)) return nameOf(value) + list(value);
      if (types.isArrayBuffer(value)) return `ArrayBuffer${list(new Uint8Array(value))}`;
      if (types.isBoxedPrimitive(value)) return `${nameOf(value)} ${of(value.valueOf())}`;
      if (types.isNativeError(value)) return `${nameOf(value)}: ${stringify(word(value.message))}`;
      if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || value === all) return opaque('object');
      if (isIterator(value)) return isLenient ? 'iterator' : `iterator${list(items(value))}`;
      const base = baseOf(value);
      const keys = ownKeys(value);
      if (base === plain || base === null) return fields(value, keys);
      const name = `${nameOf(value)} `;
      return keys.length === 0 ? bare(value, name) : name + fields(value, keys);
    };
    const of = (value) => {
      const said = shared.saidOf?.(value);
      if (said !== undefined) return said;
      switch (typeof value) {
        case 'string':
          return stringify(value);
        case 'number':
          return number(value);
        case 'bigint':
          return `${value}n`;
        case 'function':
        case 'symbol':
          return opaque(typeof value);
        case 'object':
          break;
        default:
          return word(value);
      }
      if (value === null) return 'null';
      for (let at = 0; at < open.length; at++) if (open[at] === value) return '...';
      if (open.length === DEEPEST || ++count > MOST_VALUES) return '...';
      open[open.length] = value;
      const told = object(value);
      open.length--;
      return told;
    };
    return of(top);
  };

  // A text of limited length.
  const short = (value, isLenient) => {
    let text;
    try {
      text = atHome(form(value, isLenient));
    } catch {
      throw incomparable;
    }
    if (text.length <= LONGEST) return text;
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at++) hash = imul(hash ^ apply(charCodeAt, text, [at]), 0x01000193);
    return `${apply(slice, text, [0, LONGEST / 2])}...${text.length}:${apply(digits, hash >>> 0, [16])}`;
  };

  const options = () => ({
    __proto__: null,
    breakLength: Infinity,
    compact: true,
    customInspect: false,
    depth: 4,
    maxArrayLength: 50,
    maxStringLength: COLUMNS,
  });

  // Words for the reader.
  const show = (value) => {
    try {
      const said = shared.saidOf?.(value);
      if (said !== undefined) return said;
      const text = inspect(value, options());
      // An object whose state is private has other words for itself.
      const isBare = typeof value === 'object' && apply(test, /^[A-Za-z_$][\w$]* {}$/, [text]);
      return apply(slice, atHome(isBare ? form(value, true) : text), [0, COLUMNS]);
    } catch {
      return `<${typeof value}>`;
    }
  };

  // An error as `Name: text`, and its name. Anything else that was thrown stands for itself.
  const error = (thrown) => {
    try {
      if (!types.isNativeError(thrown)) return { name: `thrown ${short(thrown, true)}`, shown: `throws ${show(thrown)}` };
      const name = nameOf(thrown);
      const said = apply(slice, atHome(word(thrown.message)), [0, COLUMNS]);
      return { name, shown: said === '' ? name : `${name}: ${said}` };
    } catch {
      return { name: 'thrown object', shown: 'throws an object' };
    }
  };

  // A text as JSON. Half a character would make the line unreadable.
  const quote = (text) => stringify(apply(decode, from(`${text}`, 'utf8'), ['utf8']));

  const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');
  Object.assign(shared, {
    asyncItems, error, incomparable, isIterator, items, quote, short, show, slice, types,
    isAsyncIterator: (value) => isObject(value) && typeof value.next === 'function' && typeof value[asyncIterator] === 'function',
    isThenable: (value) => isObject(value) && typeof value.then === 'function',
    isObject,
  });
  return shared;
})();
