// The second way to load TypeScript and JSX: by a compiler of the project, as `CommonJS`. It takes syntax that
// node does not remove, and imports without an ending.
const compiled = (file) => {
  const Module = require('node:module');
  const { readFileSync } = require('node:fs');
  const load = Module.createRequire(file);
  const compilers = [
    () => {
      const { JsxEmit, ModuleKind, ScriptTarget, flattenDiagnosticMessageText, transpileModule } = load('typescript');
      const compilerOptions = {
        esModuleInterop: true,
        jsx: JsxEmit.ReactJSX,
        module: ModuleKind.CommonJS,
        target: ScriptTarget.ES2022,
      };
      return (text, fileName) => {
        const { diagnostics, outputText } = transpileModule(text, { compilerOptions, fileName, reportDiagnostics: true });
        if (diagnostics.length === 0) return outputText;
        throw new SyntaxError(flattenDiagnosticMessageText(diagnostics[0].messageText, ' '));
      };
    },
    () => {
      const { transformSync } = load('esbuild');
      const options = { format: 'cjs', jsx: 'automatic', target: 'es2022' };
      return (text, path) => transformSync(text, { ...options, loader: path.endsWith('x') ? 'tsx' : 'ts' }).code;
    },
  ];
  let compile;
  for (const open of compilers) {
    try {
      compile ??= open();
    } catch {
      // It is not installed, or cannot be used from here.
    }
  }
  if (compile === undefined) return undefined;
  const read = (module, path) => module._compile(compile(readFileSync(path, 'utf8'), path), path);
  for (const ending of ['.ts', '.tsx', '.mts', '.cts', '.jsx']) require.extensions[ending] = read;
  // Imports name the file that is compiled from the one that is there.
  const find = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    try {
      return find.call(this, name, ...rest);
    } catch (error) {
      const source = name.replace(/\.([cm]?)js(x?)$/, '.$1ts$2');
      if (source === name) throw error;
      return find.call(this, source, ...rest);
    }
  };
  return { exported: require(file) };
};
