// expect: passed
class ListNode {
    constructor(val, next = null) {
        this.val = val;
        this.next = next;
    }
}
function f(head) {
    let previous = null;
    while (head) [head.next, previous, head] = [previous, head, head.next];
    return previous;
}
// --- tests ---
const make = (xs) => xs.reduceRight((next, val) => new ListNode(val, next), null);
const values = (node) => { const all = []; for (; node; node = node.next) all.push(node.val); return all; };
assert.deepEqual(values(f(make([1, 2, 3]))), [3, 2, 1]);
const last = new ListNode(2);
const reversed = f(new ListNode(1, last));
assert.equal(reversed.val, 2);
assert.equal(f(null), null);
