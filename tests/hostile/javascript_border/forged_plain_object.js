// expect: failed killed tampered
// A plain object with a method, as an honest worker would not send it.
const fs = require('fs');
function f(x) {
    for (let fd = 3; fd < 64; fd++) {
        try {
            if (fs.fstatSync(fd).isFIFO()) fs.writeSync(fd, '["value",["#",9],[[9,["o",0,[["equals",["h",0,"f"]]]]]],[]]\n["value",true,[],[]]\n["value",true,[],[]]\n');
        } catch {}
    }
    return 0;
}
// --- tests ---
assert(f(3).equals(6));
