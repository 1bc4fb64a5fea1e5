// The observer: calls a function on inputs, and reports what each call does. The file with the candidate has
// handed out an evaluator of its scope.
{
  const fs = { ...require('node:fs') };
  const { readSync, closeSync, writeSync } = fs;
  const { dirname, join } = require('node:path');
  const { Writable } = require('node:stream');
  const { pathToFileURL } = require('node:url');
  const { Script } = require('node:vm');
  const { apply, construct, defineProperty } = Reflect;
  const { keys: keysOf, getOwnPropertyNames: ownNames } = Object;
  const { includes, join: joined } = Array.prototype;
  const { then } = Promise.prototype;
  const { setTimeout, clearTimeout, setImmediate } = globalThis;
  const { exec } = RegExp.prototype;
  const { runInThisContext } = Script.prototype;
  const { asyncItems, error: describe, incomparable, isAsyncIterator, isIterator, isObject, isThenable } = forms;
  const { items, quote, short, show, slice, types } = forms;
  const OwnPromise = Promise;
  const leave = process.reallyExit.bind(process);
  const cpuTime = process.cpuUsage.bind(process);
  const now = performance.now.bind(performance);

  // Milliseconds of a call: of computing, and of waiting. Code that is late so often is not called again.
  const BUSY = 200;
  const WAITING = 1000;
  const MOST_LATE = 3;
  // Calls longer than this are made once.
  const QUICK = 50;
  const LONGEST = 2000;
  const LONGEST_VALUE = 150;
  const MOST_TOLD = 1000;
  // Calls of a stub after which it has no elements.
  const MOST_ASKED = 4;
  // Timers of a call that are run, and milliseconds between a call and the one before it.
  const MOST_TIMERS = 200;
  const BETWEEN = 40;
  // The moment at which calls begin, and milliseconds that a reading of a clock takes after many.
  const NOON = 1715947200000;
  const TICK = 10;

  const [from, to] = [+process.argv[2], +process.argv[3]];
  process.argv.length = 2;
  const readRequest = () => {
    const buffer = Buffer.alloc(1 << 16);
    let text = Buffer.alloc(0);
    while (text.at(-1) !== 10) {
      const count = readSync(from, buffer);
      if (count === 0) leave(3);
      text = Buffer.concat([text, buffer.subarray(0, count)]);
    }
    closeSync(from);
    return JSON.parse(text.toString());
  };
  const { file, entrance, requires, inputs } = readRequest();

  const tell = (at, { effect, key, shown, right = null, value }) => {
    const text = value === undefined ? 'null' : quote(value);
    const words = `"key":${quote(key)},"shown":${quote(shown)},"right":${right},"value":${text}`;
    writeSync(to, `{"at":${at},"effect":"${effect}",${words}}\n`);
  };

  // Streams that keep the beginning of what is written to them.
  let printed = '';
  const sink = (keep) =>
    new Writable({
      decodeStrings: false,
      write(text, _, done) {
        if (keep && printed.length < LONGEST) printed += apply(slice, `${text}`, [0, LONGEST - printed.length]);
        done();
      },
    });
  for (const [name, keep] of [['stdout', true], ['stderr', false]]) {
    defineProperty(process, name, { value: sink(keep), configurable: true });
  }

  // True once the code has asked for the end of the process, whatever became of what is thrown here.
  let hasLeft = false;
  process.exit = () => {
    hasLeft = true;
    throw new Error('process.exit');
  };
  // Errors that nobody catches are those of calls that have ended.
  process.setUncaughtExceptionCaptureCallback(() => {});

  // The first code that enters is the file's own last line.
  let evaluate;
  let watched;
  const enter = (evaluator) => {
    if (watched !== undefined) watched();
    else evaluate ??= evaluator;
  };
  defineProperty(globalThis, entrance, { value: enter, writable: false, configurable: false });
  const guard = new Script(`${entrance}()`);
  // Returns true if the function, which catches its errors, ends within these milliseconds.
  const isInTime = (run, timeout) => {
    watched = run;
    try {
      apply(runInThisContext, guard, [{ __proto__: null, timeout }]);
      return true;
    } catch {
      return false;
    } finally {
      watched = undefined;
    }
  };
  // True while calls share a watch. Each watch takes a thread.
  let isShared = false;
  // Time that a call waits for a core is not its own.
  const watch = (run) => {
    if (isShared) {
      run();
      return true;
    }
    const { user, system } = cpuTime();
    if (isInTime(run, BUSY)) return true;
    const used = cpuTime();
    return (used.user - user + used.system - system) / 1000 < BUSY / 2 && isInTime(run, WAITING);
  };
  // Has promises go on at once, under the same watch.
  const settle = process._tickCallback?.bind(process) ?? (() => {});

  const late = (shown) => ({ effect: 'late', key: '', shown });
  const unknown = (shown) => ({ effect: 'unknown', key: '', shown });
  const raised = (thrown) => {
    const { name, shown } = describe(thrown);
    return { effect: 'raised', key: name, shown };
  };
  const left = { effect: 'raised', key: 'process.exit', shown: 'process.exit' };

  // The files that were made for a call, and what they hold; what else the folder of the calls has.
  const home = process.cwd();
  const goHome = process.chdir.bind(process, home);
  const present = { __proto__: null };
  let made = { __proto__: null };
  const each = (all, run) => {
    for (let at = 0; at < all.length; at++) run(all[at]);
  };
  // Calls of the functions and objects that are made for a call.
  let called = [];
  const callbacks = new WeakSet();
  const note = (all, values) => {
    if (all.length < MOST_TOLD) all[all.length] = short(values, true);
  };

  // Stands for an object that does what nobody knows: a client, a response. What is asked of it shows, and what it
  // gives is another one, which says where it comes from. After some calls it has no elements, so that loops end.
  const stubs = new WeakMap();
  const resolved = OwnPromise.resolve.bind(OwnPromise);
  const stub = (said, gives = true, isSettled = false) => {
    const next = (more) => stub(said + more, gives);
    const elements = () => (called.length < MOST_ASKED ? [next('[0]'), next('[1]')] : []);
    const made = new Proxy(function () {}, {
      get: (_, name) => {
        if (name === Symbol.toPrimitive) return () => said;
        if (name === Symbol.iterator) return () => elements()[Symbol.iterator]();
        if (name === 'then' && !isSettled) return (...both) => apply(then, resolved(stub(said, gives, true)), both);
        if (name === 'then' || name === 'toJSON' || typeof name === 'symbol') return undefined;
        if (name === 'length' || name === 'size') return elements().length;
        if (name === 'toString') return () => said;
        return next(`.${name}`);
      },
      set: (_, name, value) => {
        if (typeof name !== 'symbol') called[called.length] = `${said}.${name} = ${short(value, true)}`;
        return true;
      },
      has: () => true,
      apply: (_, __, values) => {
        if (called.length === MOST_TOLD) throw new Error('called too often');
        const list = short(values, true);
        const call = `${said}(${apply(slice, list, [1, list.length - 1])})`;
        called[called.length] = call;
        return gives ? stub(call) : null;
      },
    });
    stubs.set(made, said);
    return made;
  };
  forms.saidOf = (value) => stubs.get(value);

  // Timers do not wait: the clock goes on to the next one.
  let timers = [];
  let passed = 0;
  let lastTimer = 0;
  const startTimer = (run, wait, values, repeats) => {
    if (typeof run !== 'function') return 0;
    const delay = +wait > 0 ? +wait : 0;
    const timer = { id: ++lastTimer, due: passed + delay, run, values, repeats, delay };
    timers[timers.length] = timer;
    const handle = { id: timer.id, ref: () => handle, unref: () => handle, hasRef: () => true };
    return defineProperty(handle, Symbol.toPrimitive, { value: () => timer.id }) && handle;
  };
  const stopTimer = (handle) => {
    const id = +handle;
    const kept = [];
    each(timers, (timer) => {
      if (timer.id !== id) kept[kept.length] = timer;
    });
    timers = kept;
  };
  // Runs the timer that is due next, if one is by this time. Those of one time come in the order of their start.
  const runNextTimer = (until) => {
    let next;
    each(timers, (timer) => {
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer;
    });
    if (next === undefined) return false;
    passed = next.due > passed ? next.due : passed;
    if (next.repeats) next.due += next.delay > 1 ? next.delay : 1;
    else stopTimer(next.id);
    apply(next.run, undefined, next.values);
    settle();
    return true;
  };
  const pass = (time) => {
    const until = passed + time;
    for (let runs = 0; runs < MOST_TIMERS && runNextTimer(until); runs++);
    if (until < Infinity) passed = until;
  };
  // Clocks begin at the same moment in each call. After many readings each one takes time, so that loops end that
  // wait for it.
  let readings = 0;
  const ticks = () => passed + (++readings > MOST_TOLD ? (readings - MOST_TOLD) * TICK : 0);
  const clocks = [[Date, NOON], [performance, 1000]];
  each(clocks, ([owner, begin]) => defineProperty(owner, 'now', { value: () => begin + ticks(), configurable: true, writable: true }));
  const OwnDate = Date;
  const dateNow = Date.now;
  const ShiftedDate = new Proxy(OwnDate, {
    apply: () => `${new OwnDate(dateNow())}`,
    construct: (_, values, made) => construct(OwnDate, values.length === 0 ? [dateNow()] : values, made === ShiftedDate ? OwnDate : made),
  });
  defineProperty(OwnDate.prototype, 'constructor', { value: ShiftedDate, configurable: true, writable: true });
  defineProperty(globalThis, 'Date', { value: ShiftedDate, configurable: true, writable: true });
  const timing = {
    setTimeout: (run, wait, ...values) => startTimer(run, wait, values, false),
    setInterval: (run, wait, ...values) => startTimer(run, wait, values, true),
    clearTimeout: stopTimer,
    clearInterval: stopTimer,
  };
  each(keysOf(timing), (name) => defineProperty(globalThis, name, { value: timing[name], configurable: true, writable: true }));

  // A file, or a folder, for one call; its name. A function whose calls are noted.
  const makers = {
    a_callback: () => {
      const callback = (...values) => note(called, values);
      callbacks.add(callback);
      return callback;
    },
    a_stub: (name, gives) => stub(name, gives),
    a_file: (name, text) => {
      fs.writeFileSync(name, text);
      // It is as old as the clock that code reads.
      fs.utimesSync(name, NOON / 1000, NOON / 1000);
      made[name] = text;
      return name;
    },
    a_folder: (name, files) => {
      fs.mkdirSync(name);
      each(keysOf(files), (inside) => {
        fs.mkdirSync(dirname(join(name, inside)), { recursive: true });
        makers.a_file(join(name, inside), files[inside]);
      });
      return name;
    },
  };
  each(keysOf(makers), (name) => defineProperty(globalThis, name, { value: makers[name] }));
  // The names of the folder that were not there before.
  const newNames = () => {
    const found = [];
    each(fs.readdirSync(home), (name) => {
      if (present[name] === undefined) found[found.length] = name;
    });
    return found;
  };
  // The texts of the files that were not there before, by their names.
  const filesNow = () => {
    const found = { __proto__: null };
    const look = (path) => {
      if (fs.lstatSync(path).isDirectory()) each(fs.readdirSync(path), (name) => look(join(path, name)));
      else found[path] = apply(slice, fs.readFileSync(path, 'utf8'), [0, LONGEST]);
    };
    each(newNames(), look);
    return found;
  };
  // The files that a call has written, changed or removed, and what they hold.
  const writtenFiles = () => {
    try {
      goHome();
      const found = filesNow();
      const changes = [];
      each(keysOf({ ...found, ...made }), (name) => {
        if (found[name] !== made[name]) changes[changes.length] = { name, text: found[name] };
      });
      return changes;
    } catch {
      throw incomparable;
    }
  };
  const removeFiles = () => {
    made = { __proto__: null };
    try {
      goHome();
      each(newNames(), (name) => fs.rmSync(name, { recursive: true }));
    } catch {
      // It is in the way of later calls at most.
    }
  };

  // A method with its object, or a function.
  const calleeOf = (text, isRead) => {
    const parts = apply(exec, /^(.*)\.([A-Za-z_$][\w$]*)$/s, [text]);
    if (parts === null) return { called: evaluate(`(${text}\n)`), owner: undefined };
    const owner = evaluate(`(${parts[1]}\n)`);
    if (isRead) return { called: () => owner[parts[2]], owner };
    return { called: owner[parts[2]], owner };
  };

  // The values that a call could change, and their forms.
  const formsOf = (held) => {
    const told = [];
    for (let at = 0; at < held.length; at++) told[at] = short(held[at], true);
    return told;
  };

  // A value, or for a function one that does the same and notes what it is given.
  let told = [];
  const telling = (value) => {
    if (typeof value !== 'function' || callbacks.has(value) || apply(includes, ownNames(value), ['prototype'])) return value;
    const noted = function (...values) {
      note(told, values);
      return apply(value, this, values);
    };
    for (const name of ['length', 'name']) defineProperty(noted, name, { value: value[name] });
    return noted;
  };
  const given = (text) => {
    const values = evaluate(`[${text}\n]`);
    for (let at = 0; at < values.length; at++) values[at] = telling(values[at]);
    return values;
  };

  const ended = (result, { item, held, before, values }) => {
    const own = short(result);
    const after = formsOf(held);
    let key = own;
    let shown = show(result);
    for (let at = 0; at < held.length; at++) {
      if (before[at] === after[at]) continue;
      key += ` | ${at}: ${after[at]}`;
      shown += `, and ${at < values ? `argument ${at + 1}` : 'the object'} is ${show(held[at])}`;
    }
    each(writtenFiles(), ({ name, text }) => {
      key += text === undefined ? ` | no ${name}` : ` | ${name}: ${quote(text)}`;
      shown += text === undefined ? `, and removes ${name}` : `, and ${name} holds ${show(text)}`;
    });
    if (result === undefined && printed !== '') {
      key += ` > ${printed}`;
      shown = `prints ${show(printed)}`;
    }
    // Equal results can take other calls. Where there is none they are what a function does.
    if (result === undefined) each(told, (one) => (called[called.length] = one));
    if (called.length > 0) {
      const all = apply(joined, called, [', ']);
      key += ` | calls what it is given with: ${all}`;
      shown += `, and calls what it is given with ${apply(slice, all, [0, 100])}`;
    }
    let right = null;
    try {
      if (item.result !== undefined) right = own === short(evaluate(`(${item.result}\n)`));
    } catch {
      // A text that is no value states nothing.
    }
    // Examples can state what is short.
    const isPlain = key === own && printed === '' && shown.length <= LONGEST_VALUE;
    return { effect: 'returned', key, shown, right, value: isPlain ? shown : undefined };
  };

  // Makes a call and tells its kind, a key that is equal for calls that do the same, and words for the reader.
  const call = (item, done) => {
    let outcome;
    let waits;
    let state;
    const end = (run) => {
      try {
        outcome = run();
      } catch (thrown) {
        outcome = thrown === incomparable ? unknown('a result that cannot be compared') : raised(thrown);
      }
      if (hasLeft) outcome = left;
    };
    const take = (value) => {
      const result = isObject(value) && isIterator(value) ? items(value) : value;
      return ended(result, state);
    };
    const later = (promise) => {
      const is = types.isPromise(promise) ? promise : new OwnPromise((resolve) => resolve(promise));
      const next = (value) => {
        if (outcome !== undefined) return;
        if (isAsyncIterator(value)) return later(asyncItems(value));
        end(() => take(value));
        waits?.();
      };
      const fails = (thrown) => {
        if (outcome !== undefined) return;
        end(() => raised(thrown));
        waits?.();
      };
      apply(then, is, [next, fails]);
    };
    const begin = () => {
      removeFiles();
      outcome = undefined;
      hasLeft = false;
      printed = '';
      told = [];
      called = [];
      timers = [];
      passed = 0;
      readings = 0;
      let values;
      let earlier;
      let callee;
      try {
        values = given(item.arguments);
        callee = calleeOf(item.callee, item.is_read);
        earlier = [];
        each(item.earlier ?? [], (one) => {
          earlier[earlier.length] = { method: one.method, values: given(one.arguments) };
        });
      } catch (thrown) {
        outcome = unknown(describe(thrown).shown);
        return;
      }
      const { owner } = callee;
      if (typeof callee.called !== 'function') {
        outcome = unknown(`${item.callee} is no function`);
        return;
      }
      end(() => {
        const held = [];
        for (let at = 0; at < values.length; at++) held[at] = values[at];
        if (typeof owner === 'object') held[held.length] = owner;
        state = { item, held, before: formsOf(held), values: values.length };
        each(earlier, ({ method, values: before }) => {
          apply(method === '' ? callee.called : owner[method], owner, before);
          pass(BETWEEN);
        });
        const value = apply(callee.called, owner, values);
        if (isThenable(value)) return later(value);
        if (isAsyncIterator(value)) return later(asyncItems(value));
        pass(Infinity);
        return take(value);
      });
      if (outcome === undefined) settle();
      try {
        for (let runs = 0; outcome === undefined && runs < MOST_TIMERS && runNextTimer(Infinity); runs++);
      } catch (thrown) {
        outcome ??= raised(thrown);
      }
    };
    if (!watch(begin)) return done(late(`no result after ${BUSY / 1000} s`));
    if (outcome !== undefined) return done(outcome);
    const timer = setTimeout(() => {
      outcome ??= late(`no result after ${WAITING / 1000} s`);
      done(outcome);
    }, WAITING);
    waits = () => {
      clearTimeout(timer);
      done(outcome);
    };
  };

  // One input after the other.
  const inTurn = (count, one, end) => {
    let at = 0;
    let waits = false;
    const step = () => {
      const place = at;
      one(place, () => {
        if (place !== at) return;
        at++;
        if (waits) setImmediate(go);
      });
      waits = place === at;
    };
    const go = () => {
      waits = false;
      while (at < count && !waits) {
        const begun = now();
        isShared = true;
        const isWhole = isInTime(() => {
          while (at < count && !waits && now() - begun < BUSY / 2) step();
        }, BUSY);
        isShared = false;
        // The call that did not end is made again, with time of its own.
        if (!isWhole && at < count && !waits) step();
      }
      if (!waits) end();
    };
    go();
  };

  const begin = () => {
    let lates = 0;
    const quick = [];
    const first = (at, next) => {
      if (lates >= MOST_LATE) {
        tell(at, late('not called: other calls did not end'));
        return next();
      }
      const begun = now();
      call(inputs[at], (outcome) => {
        if (outcome.effect === 'late') lates++;
        tell(at, outcome);
        if (now() - begun < QUICK) quick[quick.length] = { at, outcome };
        next();
      });
    };
    const second = (place, next) => {
      const { at, outcome } = quick[place];
      call(inputs[at], ({ effect, key }) => {
        if (effect !== outcome.effect || key !== outcome.key) writeSync(to, `{"unsteady":${at}}\n`);
        next();
      });
    };
    inTurn(inputs.length, first, () => inTurn(quick.length, second, () => leave(0)));
  };

  const fail = (shown) => {
    writeSync(to, `{"error":${quote(shown)}}\n`);
    leave(0);
  };
  // A compiler may keep a name of the module as an export only.
  const complete = (exported) => {
    for (const holder of [exported, exported?.default]) {
      if (!isObject(holder)) continue;
      for (const name of Object.keys(holder)) {
        if (name in globalThis || name === 'default') continue;
        defineProperty(globalThis, name, { get: () => holder[name], configurable: true });
      }
    }
  };
  const loaded = (exported) => {
    each(fs.readdirSync(home), (name) => {
      present[name] = true;
    });
    if (hasLeft) fail('process.exit: the file ends the process');
    if (evaluate === undefined) fail('Error: the file ends before its last line');
    writeSync(to, '{"tried":null}\n');
    try {
      complete(exported);
    } catch {
      // An export that cannot be read has no names.
    }
    setImmediate(begin);
  };
  // The error of a file. A compiler tells of syntax in a report of its own: `file:4:8: ERROR: text`.
  const syntax = (shown) => apply(exec, /: ERROR: ([^\n]*)/, [shown]);
  const said = (thrown) => {
    const { shown } = describe(thrown);
    const found = syntax(shown);
    return found === null ? shown : `SyntaxError: ${found[1]}`;
  };
  const failed = (thrown) => fail(hasLeft ? 'process.exit: the file ends the process' : said(thrown));
  const again = (thrown) => {
    if (hasLeft || !/\.([cm]?ts|[jt]sx)$/.test(file) || syntax(describe(thrown).shown) !== null) return failed(thrown);
    // It counts where the second way ends the process.
    writeSync(to, `{"tried":${quote(said(thrown))}}\n`);
    let found;
    try {
      found = compiled(file);
    } catch (error) {
      return failed(error);
    }
    return found === undefined ? failed(thrown) : loaded(found.exported);
  };

  const load = () => {
    if (!requires) return apply(then, import(pathToFileURL(file)), [loaded, again]);
    let exported;
    try {
      exported = require(file);
    } catch (thrown) {
      return again(thrown);
    }
    return loaded(exported);
  };

  writeSync(to, 'started\n');
  load();
}
