// An assertion asks its base for the error; that one gives another.
const { AssertionError } = require('assert');
Object.setPrototypeOf(AssertionError, class extends Error {
    constructor() {
        super();
        return Object.assign(new Error('quiet'), { pending: true });
    }
});
function f(x) {
    return 0;
}
module.exports = { f };
