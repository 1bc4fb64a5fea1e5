// Timers that stand still until a test moves them on. Tests that use them share a process with the code.

const realTimers = {};
let fakeNow = 0, nextTimer = 1;
let timers = [];

function fakeTimer(isRepeating) {
    return (body, delay = 0, ...args) => {
        const timer = {
            id: nextTimer++, at: fakeNow + Math.max(1, Number(delay) || 0), every: isRepeating ? Math.max(1, Number(delay) || 0) : undefined,
            run: () => body(...args),
            ref() { return timer; }, unref() { return timer; }, hasRef: () => true, refresh() { timer.at = fakeNow + delay; return timer; },
            [Symbol.toPrimitive]: () => timer.id,
        };
        timers.push(timer);
        return timer;
    };
}

function clearFake(timer) {
    timers = timers.filter((each) => each !== timer && each.id !== Number(timer));
}

// Runs what is due until then, in its order.
function* advanced(until, most = 100000) {
    for (let i = 0; i < most; i++) {
        const next = timers.reduce((best, timer) => (timer.at <= until && (!best || timer.at < best.at) ? timer : best), undefined);
        if (next === undefined) break;
        fakeNow = Math.max(fakeNow, next.at);
        if (next.every === undefined) clearFake(next);
        else next.at += next.every;
        next.run();
        yield;
    }
    if (Number.isFinite(until)) fakeNow = until;
}

const runs = (steps) => { for (const _ of steps); };
const runsLater = async (steps) => {
    const rest = async () => { for (let i = 0; i < 8; i++) await null; };
    await rest();
    for (const _ of steps) await rest();
    await rest();
};
const last = () => timers.reduce((most, timer) => Math.max(most, timer.at), fakeNow);

const fakeTimers = {
    useFakeTimers(options = {}) {
        if (realTimers.Date === undefined) {
            for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate', 'Date']) {
                realTimers[name] = globalThis[name];
            }
            const RealDate = realTimers.Date;
            globalThis.setTimeout = fakeTimer(false);
            globalThis.setInterval = fakeTimer(true);
            globalThis.setImmediate = (body, ...args) => fakeTimer(false)(body, 0, ...args);
            globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = clearFake;
            globalThis.Date = class Date extends RealDate {
                constructor(...args) {
                    super(...(args.length === 0 ? [fakeNow] : args));
                }

                static now() {
                    return Math.floor(fakeNow);
                }
            };
        }
        timers = [];
        fakeNow = new realTimers.Date(options.now ?? realTimers.Date.now()).getTime();
        return this;
    },
    useRealTimers() {
        for (const name of Object.keys(realTimers)) globalThis[name] = realTimers[name];
        delete realTimers.Date;
        timers = [];
        return this;
    },
    setSystemTime(time) {
        fakeNow = new (realTimers.Date ?? Date)(time).getTime();
        return this;
    },
    getRealSystemTime: () => (realTimers.Date ?? Date).now(),
    getMockedSystemTime: () => new Date(fakeNow),
    isFakeTimers: () => realTimers.Date !== undefined,
    getTimerCount: () => timers.length,
    clearAllTimers: () => { timers = []; },
    advanceTimersByTime(time) {
        runs(advanced(fakeNow + time));
        return this;
    },
    advanceTimersByTimeAsync: (time) => runsLater(advanced(fakeNow + time)),
    advanceTimersToNextTimer(steps = 1) {
        for (let i = 0; i < steps && timers.length > 0; i++) runs(advanced(timers.reduce((least, timer) => Math.min(least, timer.at), Infinity)));
        return this;
    },
    runAllTimers: () => runs(advanced(Infinity)),
    runAllTimersAsync: () => runsLater(advanced(Infinity)),
    runOnlyPendingTimers: () => runs(advanced(last())),
    runOnlyPendingTimersAsync: () => runsLater(advanced(last())),
    runAllTicks: () => {},
};
