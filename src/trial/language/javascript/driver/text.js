// JavaScript as text: tokens, and ES modules rewritten as functions, which need no flag and no loader of
// node's.
'use strict';

// Words after which a slash begins a regular expression.
const BEFORE_REGEX = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'instanceof', 'do', 'else',
    'yield', 'await', 'extends']);
const WORD = /[A-Za-z_$#\u00aa-\uffff][\w$\u00aa-\uffff]*/y;
const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y;
const SPACE = /(?:\s|\/\/.*|\/\*[^]*?\*\/)+/y;
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$\{)?/y;
const REGEX = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const PUNCTUATION = /\?\.(?!\d)|=>|\.\.\.|[=!]==?|[+\-*%&|^<>]=|&&|\|\||\?\?|\+\+|--|[^]/y;

// Tokens with their kind, text, place and depth in brackets.
function tokensOf(text) {
    const tokens = [];
    const open = [];
    let at = text.startsWith('#!') ? text.search(/\n|$/) : 0;
    const take = (pattern) => {
        pattern.lastIndex = at;
        return pattern.exec(text);
    };
    const add = (kind, value) => {
        tokens.push({ kind, text: value, start: at, end: at + value.length, depth: open.length });
        at += value.length;
    };
    const template = () => {
        const [piece, end] = take(TEMPLATE);
        add('string', piece);
        if (end === '${') open.push('`');
    };
    while (at < text.length) {
        const space = take(SPACE);
        if (space) {
            at += space[0].length;
            continue;
        }
        const last = tokens.at(-1);
        const c = text[at];
        let found;
        if ((found = take(WORD))) add('word', found[0]);
        else if ((found = take(NUMBER))) add('number', found[0]);
        else if ((c === '"' || c === '\'') && (found = take(STRING))) add('string', found[0]);
        else if (c === '`') {
            add('string', '`');
            template();
        } else if (c === '/' && (!last || (last.kind === 'word' ? BEFORE_REGEX.has(last.text)
            : last.kind === 'punct' && last.text !== ')' && last.text !== ']')) && (found = take(REGEX))) add('regex', found[0]);
        else if (c === '}' && open.at(-1) === '`') {
            open.pop();
            add('string', '}');
            template();
        } else {
            const [mark] = take(PUNCTUATION);
            if (')]}'.includes(mark)) open.pop();
            add('punct', mark);
            if ('([{'.includes(mark)) open.push(mark);
        }
    }
    return tokens;
}

// Whether something is imported or exported by a statement; otherwise the text is of the older kind of
// module.
function isEsModule(text, file) {
    if (/\.mjs$|\.mts$/.test(file)) return true;
    if (/\.cjs$|\.cts$/.test(file)) return false;
    if (!/\b(import|export)\b/.test(text)) return false;
    const tokens = tokensOf(text);
    const isStatement = ({ kind, text: word, depth }, i) => kind === 'word' && depth === 0 && tokens[i - 1]?.text !== '.'
        && ((word === 'import' && !['(', '.'].includes(tokens[i + 1]?.text)) || word === 'export');
    return tokens.some(isStatement) && !/^[ \t]*module\.exports\b/m.test(text);
}

// What stands for `import` in a call or before `.meta`, and for the exports; as long as the word, so that
// columns stay.
const IMPORT = '$1mp0r';
const EXPORTS = '_exp0rt';
const unquoted = (token) => token.text.slice(1, -1);

// `import()` is replaced everywhere, so that node asks nobody for a module.
function withoutDynamicImports(text, tokens) {
    let result = '', from = 0;
    tokens.forEach((token, i) => {
        if (token.kind !== 'word' || token.text !== 'import' || tokens[i - 1]?.text === '.') return;
        if (!['(', '.'].includes(tokens[i + 1]?.text)) return;
        result += text.slice(from, token.start) + IMPORT;
        from = token.end;
    });
    return result + text.slice(from);
}

// An ES module as a function body: a first line that does what the statements did, and the rest at its place.
function moduleAsFunction(source) {
    const text = withoutDynamicImports(source, tokensOf(source));
    const tokens = tokensOf(text);
    const cuts = [], imports = [], exported = [], stars = [];
    const blank = (start, end, by = '') => cuts.push([start, end, by]);
    const quoted = JSON.stringify;
    const name = (token) => (token.kind === 'string' ? unquoted(token) : token.text);

    // `{ a as b, c }` from the bracket on: pairs, and the place behind it.
    const list = (i) => {
        const pairs = [];
        for (i++; tokens[i] && tokens[i].text !== '}';) {
            const outer = name(tokens[i++]);
            let inner = outer;
            if (tokens[i]?.text === 'as') {
                inner = name(tokens[i + 1]);
                i += 2;
            }
            pairs.push([outer, inner]);
            if (tokens[i]?.text === ',') i++;
        }
        return [pairs, i + 1];
    };
    // `from 'x' with {…};` : the specifier, and the place behind it.
    const origin = (i) => {
        if (tokens[i]?.text === 'from') i++;
        const specifier = tokens[i] ? unquoted(tokens[i]) : '';
        i++;
        if (tokens[i]?.text === 'with' && tokens[i + 1]?.text === '{') i = list(i + 1)[1];
        if (tokens[i]?.text === ';') i++;
        return [specifier, i];
    };
    const importFrom = (specifier, pairs) => {
        for (const [outer, inner] of pairs) imports.push(`${inner}=${IMPORT}.one(${quoted(specifier)},${quoted(outer)})`);
        if (pairs.length === 0) imports.push(`${IMPORT}${imports.length}_=${IMPORT}.one(${quoted(specifier)},'*')`);
    };

    for (let i = 0; i < tokens.length; i++) {
        const token = tokens[i];
        if (token.kind !== 'word' || token.depth !== 0 || tokens[i - 1]?.text === '.') continue;
        const next = tokens[i + 1];
        if (token.text === 'import' && next) {
            let at = i + 1;
            const pairs = [];
            if (next.kind === 'word') {
                pairs.push(['default', next.text]);
                at++;
                if (tokens[at]?.text === ',') at++;
            }
            if (tokens[at]?.text === '*') {
                pairs.push(['*', tokens[at + 2]?.text]);
                at += 3;
            } else if (tokens[at]?.text === '{') {
                const [named, behind] = list(at);
                pairs.push(...named);
                at = behind;
            }
            const [specifier, behind] = origin(at);
            importFrom(specifier, pairs);
            blank(token.start, tokens[behind - 1]?.end ?? text.length);
            i = behind - 1;
        } else if (token.text === 'export' && next) {
            if (next.text === '*') {
                const spaced = tokens[i + 2]?.text === 'as';
                const [specifier, behind] = origin(i + (spaced ? 4 : 2));
                const inner = `${EXPORTS}${imports.length}`;
                importFrom(specifier, [['*', inner]]);
                if (spaced) exported.push([name(tokens[i + 3]), inner]);
                else stars.push(inner);
                blank(token.start, tokens[behind - 1]?.end ?? text.length);
                i = behind - 1;
            } else if (next.text === '{') {
                const [pairs, behind] = list(i + 1);
                let end = behind;
                if (tokens[behind]?.text === 'from') {
                    let specifier;
                    [specifier, end] = origin(behind);
                    for (const pair of pairs) {
                        const inner = `${EXPORTS}${imports.length}`;
                        importFrom(specifier, [[pair[0], inner]]);
                        exported.push([pair[1], inner]);
                    }
                } else {
                    for (const [inner, outer] of pairs) exported.push([outer, inner]);
                    if (tokens[end]?.text === ';') end++;
                }
                blank(token.start, tokens[end - 1]?.end ?? text.length);
                i = end - 1;
            } else if (next.text === 'default') {
                let at = i + 2;
                if (tokens[at]?.text === 'async') at++;
                const kind = tokens[at]?.text;
                if (kind === 'function' && tokens[at + 1]?.text === '*') at++;
                const named = tokens[at + 1];
                if ((kind === 'function' || kind === 'class') && named?.kind === 'word' && named.text !== 'extends') {
                    exported.push(['default', named.text]);
                    blank(token.start, next.end);
                } else {
                    exported.push(['default', `${EXPORTS}.value`]);
                    // As long as `export default `.
                    blank(token.start, next.end, `${EXPORTS}.value=`);
                }
                i++;
            } else {
                let at = i + 1;
                while (['async', 'function', 'class', '*'].includes(tokens[at]?.text)) at++;
                if (['const', 'let', 'var'].includes(next.text)) for (const each of declared(tokens, i + 2)) exported.push([each, each]);
                else if (tokens[at]) exported.push([tokens[at].text, tokens[at].text]);
                blank(token.start, token.end);
            }
        }
    }
    let body = '', from = 0;
    for (const [start, end, by] of cuts) {
        body += text.slice(from, start) + (by || text.slice(start, end).replace(/[^\n]/g, ' '));
        from = end;
    }
    body += text.slice(from);
    const getters = exported.map(([outer, inner]) => `[${quoted(outer)},()=>${inner}]`).join(',');
    const head = `${imports.length > 0 ? `const ${imports.join(',')};` : ''}${EXPORTS}([${getters}],[${stars.join(',')}],(_n4me,..._v4lue)=>(_v4lue.length===0?eval(_n4me):eval(_n4me+'=_v4lue[0]')));`;
    return { head, body };
}

// The names that `const`, `let` or `var` declares, from behind that word on.
function declared(tokens, i) {
    const names = [];
    let isTarget = true;
    for (; i < tokens.length; i++) {
        const { kind, text, depth } = tokens[i];
        if (depth === 0) {
            if (text === ';' || (kind === 'word' && /^(export|import|const|let|var|function|class|if|for|return|async)$/.test(text) && !isTarget
                && tokens[i - 1]?.text !== '=' && tokens[i - 1]?.kind !== 'word' && tokens[i - 1]?.text !== '=>')) break;
            if (text === '=') isTarget = false;
            else if (text === ',') isTarget = true;
            else if (isTarget && kind === 'word') names.push(text);
        } else if (isTarget && kind === 'word' && tokens[i + 1]?.text !== ':' && tokens[i - 1]?.text !== '=') names.push(text);
    }
    return names;
}

// Words that are no names.
const RESERVED = new Set(['true', 'false', 'null', 'this', 'super', 'arguments', 'undefined']);
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', IMPORT, EXPORTS];

// Where an error came from in a file, as far as its stack tells.
function positionOf(error, file) {
    try {
        const [, after] = `${error.stack}`.split(`${file}:`);
        const [line, column] = after.split(/[^0-9]/).map((digits) => Number.parseInt(digits, 10) || undefined);
        return { line, column };
    } catch {
        return {};
    }
}

function lineOf(error, file) {
    return positionOf(error, file).line;
}

// Compiles a text, either kind of module, to a function. `tail` is put behind that of the older kind.
function compiled(text, file, isModule, tail = '') {
    if (isModule) {
        const { head, body } = moduleAsFunction(text);
        const whole = `return (async () => {'use strict';${head}\n${body}\n})()`;
        return vm.compileFunction(whole, PARAMETERS, { filename: file, lineOffset: -1 });
    }
    const plain = (text.includes('import') ? withoutDynamicImports(text, tokensOf(text)) : text).replace(/^#!.*/, '');
    return vm.compileFunction(`${plain}\n${tail}`, PARAMETERS, { filename: file });
}

// Runs it. `find(specifier)` gives an object whose properties are the names; what it exports is put into
// `exports`.
function runText(run, file, isModule, module, require, find) {
    const one = (specifier, name) => {
        const exports = find(specifier);
        if (name === '*') return exports;
        if (!(name in exports)) throw new SyntaxError(`'${specifier}' does not export '${name}'`);
        return exports[name];
    };
    const load = Object.assign(async (specifier) => find(`${specifier}`), { one, meta: { url: `file:///${file}`, filename: file, dirname: '.' } });
    const publish = (getters, stars, lookUp) => {
        for (const star of stars) for (const key of Object.keys(star)) if (key !== 'default') module.exports[key] = star[key];
        for (const [name, get] of getters) Object.defineProperty(module.exports, name, { get, enumerable: true, configurable: true });
        module.lookUp = lookUp;
    };
    return run.call(isModule ? undefined : module.exports, module.exports, require, module, file, '.', load, publish);
}

// The names that a text declares outside of all brackets.
function declarations(tokens) {
    const names = [];
    tokens.forEach(({ kind, text, depth }, i) => {
        if (kind !== 'word' || depth !== 0) return;
        if (['const', 'let', 'var'].includes(text)) names.push(...declared(tokens, i + 1));
        else if ((text === 'function' || text === 'class') && tokens[i - 1]?.text !== '=') {
            const at = tokens[i + 1]?.text === '*' ? i + 2 : i + 1;
            if (tokens[at]?.kind === 'word') names.push(tokens[at].text);
        }
    });
    return names;
}

// The words of a text, and how they are used.
function wordsOf(text) {
    const tokens = tokensOf(text);
    const words = { all: new Set(), free: new Set(), members: new Set(), calls: new Set(), classes: new Set(), tokens };
    tokens.forEach(({ kind, text: word }, i) => {
        if (kind !== 'word') return;
        const before = tokens[i - 1]?.text, after = tokens[i + 1]?.text;
        words.all.add(word);
        if (before === '.' || before === '?.') {
            words.members.add(`${tokens[i - 2]?.text}.${word}`);
            if (after === '(') words.calls.add(word);
        } else words.free.add(word);
        const isMade = before === 'new' || (before === '.' && tokens[i - 3]?.text === 'new') || before === 'instanceof' || before === 'extends';
        const isUpper = /^[A-Z]/.test(word);
        // A class is made, extended, or asked for its own functions.
        if (isMade || (isUpper && after === '.' && !['call', 'apply', 'bind', 'name', 'length'].includes(tokens[i + 2]?.text))) words.classes.add(word);
    });
    return words;
}

// Classes that a text defines: what they extend, and whether a copy of an object's properties is the object.
function classesOf(tokens) {
    const classes = new Map();
    for (let i = 0; i < tokens.length; i++) {
        if (tokens[i].text !== 'class' || tokens[i].kind !== 'word' || tokens[i + 1]?.kind !== 'word') continue;
        const isAnonymous = tokens[i + 1].text === 'extends';
        const name = isAnonymous ? (tokens[i - 1]?.text === '=' ? tokens[i - 2]?.text : '') : tokens[i + 1].text;
        let at = i + (isAnonymous ? 1 : 2);
        let base;
        if (tokens[at]?.text === 'extends') base = tokens[at + 1]?.text;
        while (tokens[at] && tokens[at].text !== '{') at++;
        const { depth } = tokens[at] ?? {};
        let isPlain = true;
        for (at++; tokens[at] && tokens[at].depth > depth; at++) {
            const { text } = tokens[at];
            if (text.startsWith('#') || (text === 'static' && ['=', ';', '{'].includes(tokens[at + 2]?.text))) isPlain = false;
        }
        classes.set(name, { base, isPlain });
    }
    return classes;
}

const GLOBALS = new Set(['Math', 'Date', 'global', 'globalThis', 'window', 'performance', 'crypto', 'JSON', 'Object', 'Array', 'String', 'Number', 'Promise',
    'Reflect', 'Intl', 'process']);
// Modules by which tests reach what the code reaches, too.
const SURROUNDINGS = { fs: 'a file', 'fs/promises': 'a file', stream: 'a stream', 'stream/promises': 'a stream', http: 'a connection', https: 'a connection', net: 'a connection',
    child_process: 'a process', worker_threads: 'a thread', async_hooks: 'a context', module: 'a module', vm: 'a context' };
const SPIES = new Set(['spyOn', 'method', 'getter', 'setter', 'replaceProperty']);

// What tests do to the code's surroundings. `watched` are the functions whose output they catch; `shared` is
// what can be done in one process only.
function reachOf(tokens, classes) {
    const watched = [];
    let shared;
    const need = (what) => { shared ??= what; };
    const isError = (base) => base !== undefined && (/Error$|Exception$/.test(base) || isError(classes.get(base)?.base));
    for (const [name, { base }] of classes) {
        if (base !== undefined && !classes.has(base) && !isError(base) && !(base in globalThis)) need(`a class that extends ${base}`);
        else if (!isError(base) && tokens.some(({ text }, i) => text === name && tokens[i - 1]?.text === 'new')) need(`an object of the class ${name}`);
    }
    const text = (i) => tokens[i]?.text ?? '';
    const watch = (i, key) => {
        if (text(i) === 'console') watched.push(['console', key]);
        else if (text(i) === 'process' && ['stdout', 'stderr'].includes(text(i + 2))) watched.push([text(i + 2), key]);
        else return false;
        return true;
    };
    tokens.forEach(({ kind, text: word }, i) => {
        const isImport = ['from', 'import'].includes(text(i - 1)) || (text(i - 1) === '(' && ['require', 'import'].includes(text(i - 2)));
        const specifier = kind === 'string' && isImport ? unquoted(tokens[i]).replace(/^node:/, '') : '';
        if (hasOwn(SURROUNDINGS, specifier)) need(SURROUNDINGS[specifier]);
        if (kind !== 'word') return;
        if (word === 'useFakeTimers' || (word === 'timers' && text(i - 2) === 'mock')) need('a clock that stands still');
        if (word === 'stubGlobal' || word === 'stubEnv') need('a change of a global name');
        if (SPIES.has(word) && text(i + 1) === '(') {
            let at = i + 2;
            while (tokens[at] && text(at) !== ',') at++;
            const key = text(at + 1).slice(1, -1);
            if (!watch(i + 2, key) && GLOBALS.has(text(i + 2))) need(`a change of ${text(i + 2)}`);
        }
        if (text(i - 1) === '.' || text(i - 1) === '?.') return;
        // `a.b.c = …`
        let at = i;
        while (text(at + 1) === '.' && tokens[at + 2]?.kind === 'word') at += 2;
        if (at === i || !/^(=|\+=|\+\+|--|\?\?=|\|\|=)$/.test(text(at + 1))) return;
        if (!watch(i, text(at)) && GLOBALS.has(word)) need(`a change of ${word}`);
        else if (tokens.slice(i, at).some((part) => part.text === 'prototype') && !classes.has(word)) need(`a change of ${word}.prototype`);
    });
    return { watched, shared };
}
