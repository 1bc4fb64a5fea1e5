// Loads the program under test, whatever kind of module it is, and finds its names.
const vm = require('node:vm');
const nodeModule = require('node:module');

// A program given with `-e` has all modules as global names; a file has not.
for (const name of nodeModule.builtinModules) {
    if (!['process', 'console', 'crypto'].includes(name)) delete globalThis[name];
}

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

function isEsModule(text, file) {
    if (/\.mjs$|\.mts$/.test(file)) return true;
    if (/\.cjs$|\.cts$/.test(file)) return false;
    return /^[ \t]*(import\s*['"{*\w]|export\s*[{*]|export\s+(default|const|let|var|function|class|async)\b)/m.test(text)
        && !/^[ \t]*module\.exports\b/m.test(text);
}

function builtin(name) {
    return nodeModule.isBuiltin(name) || name.startsWith('node:');
}

// Removes types. What has a meaning of its own, such as an enum, has to be rewritten, and then lines move.
function withoutTypes(text) {
    try {
        return nodeModule.stripTypeScriptTypes(text);
    } catch (error) {
        if (error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error;
        return nodeModule.stripTypeScriptTypes(text, { mode: 'transform' });
    }
}

// Links an ES module: `find(specifier)` gives an object whose properties are the names.
async function linked(text, file, find) {
    const importModuleDynamically = async (specifier) => {
        const module = synthetic(find(specifier));
        await module.link(() => {});
        await module.evaluate();
        return module;
    };
    const synthetic = (exports) => {
        const names = Object.keys(exports);
        return new vm.SyntheticModule(names, function () {
            for (const name of names) this.setExport(name, exports[name]);
        });
    };
    const initializeImportMeta = (meta) => { meta.url = `file:///${file}`; };
    const module = new vm.SourceTextModule(text, { identifier: file, importModuleDynamically, initializeImportMeta });
    await module.link((specifier) => synthetic(find(specifier)));
    return module;
}

function exportsOf(value) {
    const exports = { __proto__: null, default: value };
    for (const key of Object.keys(value)) if (key !== 'default') exports[key] = value[key];
    return exports;
}

// The program: `name(n)` gives the value of a top-level or exported name, `exports()` what a require would give, if anything.
async function load(text, file) {
    const foreign = (specifier) => {
        if (builtin(specifier)) return require(specifier);
        throw new Error(`the module '${specifier}' is not available here`);
    };
    if (isEsModule(text, file)) {
        const hook = '__bass_names';
        const source = `${text}\n;export const ${hook} = (name) => eval(name);`;
        const module = await linked(source, file, (specifier) => exportsOf(foreign(specifier)));
        await module.evaluate();
        const { [hook]: inner, ...exports } = module.namespace;
        return {
            name(name) {
                if (Object.hasOwn(exports, name)) return exports[name];
                return inner(name);
            },
            exports: () => exports,
        };
    }
    const module = { exports: {} };
    const names = ['exports', 'require', 'module', '__filename', '__dirname'];
    const plain = text.replace(/^#!.*/, '');
    const run = vm.compileFunction(`${plain}\n;return (name) => eval(name);`, names, { filename: file });
    const inner = run.call(module.exports, module.exports, foreign, module, file, '.');
    const { exports } = module;
    const isExporting = typeof exports === 'function' || Object.keys(exports).length > 0;
    return {
        name(name) {
            if (isExporting && Object.hasOwn(exports, name)) return exports[name];
            if (typeof inner === 'function') return inner(name);
            throw new ReferenceError(name);
        },
        exports: () => (isExporting ? exports : undefined),
    };
}
