// expect: passed
function f(kind) {
    const error = new TypeError('bad', { cause: new Error('deep') });
    return {
        map: new Map([['a', { b: [1] }]]), set: new Set([1, 'x']), date: new Date(86400000), regexp: /a+/gi, bytes: new Uint8Array([1, 255]),
        big: 2n ** 64n, nan: NaN, zero: -0, nothing: undefined, buffer: Buffer.from('hé'), error, symbol: Symbol.for('shared'), infinite: -Infinity,
    }[kind];
}
// --- tests ---
expect(f('map')).toEqual(new Map([['a', { b: [1] }]]));
expect(f('map').get('a').b).toEqual([1]);
expect(f('set')).toEqual(new Set(['x', 1]));
expect(f('set').has('x')).toBe(true);
expect(f('date')).toEqual(new Date('1970-01-02T00:00:00Z'));
expect(f('date').getUTCDate()).toBe(2);
expect(f('regexp')).toEqual(/a+/gi);
expect(f('regexp').test('cAt')).toBe(true);
expect(f('bytes')).toEqual(new Uint8Array([1, 255]));
expect(f('big')).toBe(18446744073709551616n);
expect(f('nan')).toBeNaN();
expect(f('zero')).toBe(-0);
expect(f('zero')).not.toBe(0);
expect(f('nothing')).toBeUndefined();
expect(f('buffer').toString()).toBe('hé');
expect(Buffer.isBuffer(f('buffer'))).toBe(true);
expect(f('error')).toBeInstanceOf(TypeError);
expect(f('error').cause.message).toBe('deep');
expect(f('symbol')).toBe(Symbol.for('shared'));
expect(f('infinite')).toBeLessThan(0);
assert.deepStrictEqual(f('map'), new Map([['a', { b: [1] }]]));
