// Comes before tests that import no file. It defines as globals the names of the program, which runs as a
// script, and the names of node's library that the tests use. Above stand `program`, its file if they see it,
// and `names`.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import vm from 'node:vm';

// Saved before the program could replace it.
const { defineProperty } = Object;
const { runInThisContext } = vm;
const keep = (holder, name, value) => defineProperty(holder, name, { value, writable: false, configurable: false });
const library = { ...(names.some((name) => name !== 'assert') ? await import('node:test') : {}), assert };
for (const name of names) defineProperty(globalThis, name, { value: library[name], writable: true, configurable: true });
if (program !== null) {
  const file = resolve(program);
  const text = readFileSync(file, 'utf8');
  const plain = () => {
    if (!file.endsWith('ts')) return text;
    try {
      return module.stripTypeScriptTypes(text);
    } catch {
      return module.stripTypeScriptTypes(text, { mode: 'transform' });
    }
  };
  let script;
  try {
    const importModuleDynamically = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    if (!/\.m[jt]s$/.test(file)) script = new vm.Script(plain(), { filename: file, importModuleDynamically });
  } catch {
    // The text is an ES module. Any other error in it is reported when it is imported.
  }
  if (script === undefined) Object.assign(globalThis, await import(pathToFileURL(file)));
  else {
    const own = { exports: {} };
    Object.assign(globalThis, { module: own, exports: own.exports, require: module.createRequire(file) });
    script.runInThisContext();
  }
}
for (const name of names) {
  const now = runInThisContext(name);
  if (now !== library[name] && now !== assert.strict) throw new Error(`the program defines ${name}, which the tests use`);
  keep(globalThis, name, library[name]);
}
keep(console, 'assert', (holds, ...told) => assert(holds, told.length > 0 ? format(...told) : 'console.assert does not hold'));
