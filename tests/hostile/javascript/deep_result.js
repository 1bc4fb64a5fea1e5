// expect: failed error
// A result nested without end.
function f(x) {
    let nest = [];
    for (let i = 0; i < 100000; i++) nest = [nest];
    return nest;
}
