// Writes and reads lines of JSON on two descriptors, without an event loop. Everything that the driver needs
// is taken from the language before foreign code is loaded.
'use strict';

const LONGEST = 8 << 20;
const fs = require('node:fs');
const vm = require('node:vm');
const nodeModule = require('node:module');
const { types, inspect } = require('node:util');
const { isArray } = Array;
const { getPrototypeOf, defineProperty, is, hasOwn, getOwnPropertyDescriptor } = Object;
const { parse, stringify } = JSON;
const { apply, ownKeys } = Reflect;
const { setTimeout: later, clearTimeout: notLater, setImmediate: soon } = globalThis;
const resources = process.getActiveResourcesInfo?.bind(process) ?? (() => ['unknown']);
// Whether anything keeps the event loop alive but the driver itself and what is printed to.
const isBusy = () => resources().some((name) => !['PipeWrap', 'TTYWrap', 'Immediate'].includes(name));

// A program given with `-e` has all modules as global names; a file has not.
for (const name of nodeModule.builtinModules) {
    if (!['process', 'console', 'crypto'].includes(name)) delete globalThis[name];
}

class Line {
    constructor(input, output) {
        this.input = input;
        this.output = output;
        this.rest = Buffer.alloc(0);
        this.piece = Buffer.alloc(1 << 16);
    }

    send(message) {
        let bytes = Buffer.from(stringify(message) + '\n');
        while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(this.output, bytes));
    }

    // The next message; undefined when the other side is gone or says too much.
    receive() {
        const parts = [this.rest];
        let length = this.rest.length, end = this.rest.indexOf(10);
        while (end < 0) {
            let count = 0;
            try {
                count = fs.readSync(this.input, this.piece);
            } catch {
                return undefined;
            }
            if (count === 0 || length > LONGEST) return undefined;
            const part = Buffer.from(this.piece.subarray(0, count)), at = part.indexOf(10);
            if (at >= 0) end = length + at;
            length += count;
            parts.push(part);
        }
        const bytes = parts.length === 1 ? this.rest : Buffer.concat(parts);
        this.rest = bytes.subarray(end + 1);
        return parse(bytes.toString('utf8', 0, end));
    }
}
