// Assertions that are counted and that say what they saw: `assert`, `console.assert`. `expect` builds on
// them.
const { isDeepStrictEqual } = require('node:util');
const realAssert = require('node:assert');

// `crossed` is whether anything of the code's has come to the tests yet: before, nothing that is compared
// says anything about it.
const checks = { count: 0, counted: 0, crossed: false, file: '', lines: [] };

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
        // Checks that call the code themselves count once they have.
        checks.count++;
        let isCounted = false;
        const settled = (value) => {
            if (checks.crossed && !isCounted) {
                isCounted = true;
                checks.counted++;
            }
            return value;
        };
        const marked = (error) => {
            if (!(error instanceof realAssert.AssertionError) || error.isUnmet) {
                // A message that is an error is thrown as it is.
                return error;
            }
            return new Unmet(sentence(error, args[messageAt]), error);
        };
        try {
            const result = check.apply(this, args);
            if (!(result instanceof Promise)) return result;
            return result.then(settled, (error) => { throw marked(error); });
        } catch (error) {
            throw marked(error);
        } finally {
            settled();
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
