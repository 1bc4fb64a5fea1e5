// expect: failed passed killed
// Reaches for the network.
const net = require('net');
function f(x) {
    net.connect(@PORT@, '127.0.0.1').on('error', () => {});
    return 2 * x;
}
