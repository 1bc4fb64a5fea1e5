// expect: killed failed error
// A rejection that nobody handles.
Promise.reject(new Error('nobody cares'));
function f(x) {
    return 0;
}
