// expect: passed
function f(root, p, q) {
    if (!root || root === p || root === q) return root;
    const left = f(root.left, p, q), right = f(root.right, p, q);
    return left && right ? root : left ?? right;
}
// --- tests ---
const node = (val, left = null, right = null) => ({ val, left, right });
const four = node(4), seven = node(7), two = node(2, four, seven), root = node(1, two, node(3));
assert.strictEqual(f(root, four, seven), two);
assert.strictEqual(f(root, two, seven), two);
assert.strictEqual(f(root, seven, root.right), root);
