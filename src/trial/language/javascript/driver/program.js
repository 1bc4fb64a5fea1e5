// Loads a program, whatever kind of module it is, and finds its names.

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

// A library as an object of names, for `import`.
function exportsOf(value) {
    const exports = { __proto__: null, default: value };
    for (const key of Object.keys(value)) if (key !== 'default') exports[key] = value[key];
    return exports;
}

// The program: `name(n)` gives the value of a top-level or exported name, `exports()` what a require would
// give, if anything, `assign(n, value)` gives a variable of it another value, `done` is settled once it is
// loaded.
function load(text, file) {
    const isModule = isEsModule(text, file);
    const foreign = (specifier) => {
        if (builtin(specifier)) return require(specifier);
        throw new Error(`the module '${specifier}' is not available here`);
    };
    const module = { exports: {} };
    const run = compiled(text, file, isModule, ';return (_n4me, ..._v4lue) => (_v4lue.length === 0 ? eval(_n4me) : eval(`${_n4me} = _v4lue[0]`));');
    const inner = runText(run, file, isModule, module, foreign, (specifier) => exportsOf(foreign(specifier)));
    const { exports } = module;
    const isExporting = isModule || typeof exports === 'function' || Object.keys(exports).length > 0;
    return {
        done: isModule ? inner : undefined,
        name(name) {
            if (isExporting && hasOwn(exports, name)) return exports[name];
            if (isModule) return module.lookUp(name);
            if (typeof inner === 'function') return inner(name);
            throw new ReferenceError(name);
        },
        assign: (name, value) => (isModule ? module.lookUp : inner)(name, value),
        exports: () => (isExporting ? exports : undefined),
    };
}
