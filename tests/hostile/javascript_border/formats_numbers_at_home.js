// expect: failed error
// Patches the library where it lives; the tests use their own.
JSON.stringify = () => '{"a":6}';
Number.prototype.toFixed = () => '6.00';
String.prototype.includes = () => true;
Array.prototype.includes = () => true;
Intl.NumberFormat.prototype.formatToParts = () => [];
function f(x) {
    return { a: 0, n: 0, text: '' };
}
// --- tests ---
assert.equal(JSON.stringify({ a: f(3).a }), '{"a":6}');
assert.equal(f(3).n.toFixed(2), '6.00');
assert.ok(f(3).text.includes('six'));
