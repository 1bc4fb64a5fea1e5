// For runners that are programs of their own and write their report where no code reaches it. This part only
// reports changes, as lines on standard error, which cannot be taken back. If such a line cannot be written,
// its test fails.
(() => {
  const { apply, getPrototypeOf: baseOf } = Reflect;
  const tell = (write, stream) => watch.listen((name) => apply(write, stream, [`\n\u0001changed ${name}\n`]));
  const begin = (afterEach, afterAll) => {
    watch.belongsTo(tests);
    watch.judges(globalThis);
    afterEach(watch.look);
    afterAll(watch.look);
  };
  if (typeof Deno === 'object') {
    const { stderr, test } = Deno;
    const encoder = new TextEncoder();
    const encode = encoder.encode.bind(encoder);
    const { writeSync } = stderr;
    tell((text) => apply(writeSync, stderr, [encode(text)]));
    begin(test.afterEach, test.afterAll);
    Object.freeze(test);
    Object.defineProperty(Deno, 'test', { value: test, writable: false, configurable: false });
    return;
  }
  const own = require('bun:test');
  const { writeSync } = require('node:fs');
  tell((text) => writeSync(2, text));
  // Keeps the modules that judge from being replaced.
  const { builtinModules } = require('node:module');
  const isOurs = (name) => /^(bun|node):/.test(name) || builtinModules.includes(name);
  for (const [holder, name] of [[own.mock, 'module'], [own.jest, 'mock'], [own.vi, 'mock']]) {
    const replace = holder?.[name];
    if (typeof replace !== 'function') continue;
    holder[name] = function (what, ...rest) {
      if (isOurs(`${what}`)) throw new Error(`${what} is not replaced here`);
      return apply(replace, this, [what, ...rest]);
    };
  }
  watch.keep(own, 'bun:test');
  for (const name of ['test', 'describe', 'expect', 'mock', 'jest', 'vi']) watch.keep(own[name], name);
  for (let part = own.expect(0); part && part !== Object.prototype; part = baseOf(part)) watch.keep(part, 'matchers');
  begin(own.afterEach, own.afterAll);
})();
