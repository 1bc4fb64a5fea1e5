// expect: failed
// Prints codes that steer terminals, also in its error.
function f(x) {
    console.log('\x1b[2J\x1b]0;title\x07\x1b]52;c;aGk=\x07\u202e');
    throw new Error('\x1b[31mred\x1b]0;title\x07\u202e');
}
