// expect: passed
function f(config) {
    let state = config.initial;
    const listeners = new Set();
    return {
        get state() { return state; },
        send(event) {
            const next = config.states[state]?.on?.[event];
            if (!next) return false;
            state = next;
            for (const listener of listeners) listener(state, event);
            return true;
        },
        subscribe(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
        },
    };
}
// --- tests ---
const machine = f({ initial: 'green', states: { green: { on: { TIMER: 'yellow' } }, yellow: { on: { TIMER: 'red' } }, red: {} } });
const seen = [];
const stop = machine.subscribe((state, event) => seen.push(`${event}:${state}`));
assert.equal(machine.send('TIMER'), true);
assert.equal(machine.state, 'yellow');
assert.equal(machine.send('NOPE'), false);
stop();
machine.send('TIMER');
assert.equal(machine.state, 'red');
assert.deepEqual(seen, ['TIMER:yellow']);
