// expect: passed
class Node {
    constructor(value) {
        this.value = value;
        this.edges = new Set();
    }
}
class Graph {
    constructor() { this.nodes = new Map(); }
    node(value) {
        if (!this.nodes.has(value)) this.nodes.set(value, new Node(value));
        return this.nodes.get(value);
    }
    link(a, b) {
        a.edges.add(b);
        return this;
    }
    reaches(a, b, seen = new Set()) {
        if (a === b) return true;
        seen.add(a);
        return [...a.edges].some((next) => !seen.has(next) && this.reaches(next, b, seen));
    }
}
// --- tests ---
const graph = new Graph();
const [a, b, c] = ['a', 'b', 'c'].map((name) => graph.node(name));
graph.link(a, b).link(b, c);
assert.equal(graph.reaches(a, c), true);
assert.equal(graph.reaches(c, a), false);
assert.strictEqual(graph.node('a'), a);
assert.equal(a.edges.size, 1);
