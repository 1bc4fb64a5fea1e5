// expect: failed killed tampered
// Writes messages of its own choice to the judge.
const fs = require('fs');
function f(x) {
    const forged = [
        '["value",["h",0,"o"],[],[[0,["","x",[]]]]]', '["value",["#",99],[],[]]', '["value",["back",0],[],[]]', '["callback",[0,false],[6],[],[]]',
        '["value",6,[[0,["a",0,[6]]]],[]]', '["turned",[],[],[],true]', '["printed",["console","constructor"],["return process.exit(0)"],[],[]]', '[["a"]]', '6', '{}',
    ];
    for (let fd = 3; fd < 64; fd++) {
        for (const text of forged) try { if (fs.fstatSync(fd).isFIFO()) fs.writeSync(fd, `${text}\n`); } catch {}
    }
    return 0;
}
// --- tests ---
assert.strictEqual(f(3), 6);
