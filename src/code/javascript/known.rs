//! Names that JavaScript has without a definition; TypeScript has them too.

use crate::code::known::Known;

pub(in crate::code) const KNOWN: Known = Known {
    builtins: &[
        "AbortController", "AbortSignal", "AggregateError", "Array", "ArrayBuffer", "BigInt", "BigInt64Array", "Blob",
        "Boolean", "Buffer", "DataView", "Date", "Error", "EvalError", "Float32Array", "Float64Array", "FormData",
        "Function", "Headers", "Infinity", "Int16Array", "Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "Map",
        "Math", "NaN", "Number", "Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp",
        "Request", "Response", "Set", "String", "Symbol", "SyntaxError", "TextDecoder", "TextEncoder", "TypeError",
        "URIError", "URL", "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray",
        "WeakMap", "WeakRef", "WeakSet", "alert", "async", "atob", "await", "btoa", "case", "catch", "clearImmediate",
        "clearInterval", "clearTimeout", "console", "constructor", "decodeURI", "decodeURIComponent", "delete", "do",
        "document", "else", "encodeURI", "encodeURIComponent", "escape", "eval", "fetch", "for", "function", "get",
        "globalThis", "if", "import", "in", "instanceof", "isFinite", "isNaN", "keyof", "new", "of", "parseFloat",
        "parseInt", "process", "queueMicrotask", "require", "return", "set", "setImmediate", "setInterval",
        "setTimeout", "static", "structuredClone", "super", "switch", "throw", "typeof", "unescape", "void", "while",
        "window", "with", "yield",
    ],
    // Modules of node that nearly all code gives their own names.
    library: &["assert", "crypto", "fs", "os", "path", "readline", "util", "zlib"],
    given: &[("crypto", &["getRandomValues", "randomUUID", "subtle"])],
    twins: &[],
    separator: "/",
    import: |path| format!("import {path} from '{path}';"),
};
