// Whoever looks at the error fails.
class Odd extends Error {
    get message() { throw this; }
    get stack() { throw this; }
    get name() { throw this; }
}
function f(x) {
    throw new Odd();
}
module.exports = { f };
