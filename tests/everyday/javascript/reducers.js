// expect: passed
function f(state = { items: [] }, action) {
    switch (action.type) {
        case 'add': return { ...state, items: [...state.items, action.item] };
        case 'clear': return { ...state, items: [] };
        default: return state;
    }
}
// --- tests ---
const state = Object.freeze({ items: Object.freeze(['a']), other: {} });
const next = f(state, { type: 'add', item: 'b' });
assert.deepEqual(next.items, ['a', 'b']);
assert.notStrictEqual(next, state);
assert.strictEqual(next.other, state.other);
assert.strictEqual(f(state, { type: 'none' }), state);
assert.deepEqual(f(undefined, {}), { items: [] });
