// expect: passed
// entry: Later
class Later {
    constructor(run) {
        this.state = 'pending';
        this.waiting = [];
        const settle = (state) => (value) => {
            if (this.state !== 'pending') return;
            Object.assign(this, { state, value });
            for (const wake of this.waiting) wake();
        };
        try {
            run(settle('kept'), settle('broken'));
        } catch (error) {
            settle('broken')(error);
        }
    }
    then(kept, broken) {
        return new Later((resolve, reject) => {
            const run = () => queueMicrotask(() => {
                try {
                    if (this.state === 'kept') resolve(kept ? kept(this.value) : this.value);
                    else if (broken) resolve(broken(this.value));
                    else reject(this.value);
                } catch (error) {
                    reject(error);
                }
            });
            if (this.state === 'pending') this.waiting.push(run);
            else run();
        });
    }
}
// --- tests ---
test('keeps', async () => {
  const value = await new Later((resolve) => setTimeout(() => resolve(5), 2)).then((x) => x + 1);
  expect(value).toBe(6);
});
test('breaks', async () => {
  const seen = await new Later((_, reject) => reject(new Error('no'))).then(null, (error) => error.message);
  expect(seen).toBe('no');
  expect(new Later(() => {}).state).toBe('pending');
});
