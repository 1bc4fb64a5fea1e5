// expect: passed
// entry: Cell
// An object is seen by a function of the tests while it is still being made.
class Cell {
    constructor(value) {
        this.value = value;
        this.dependents = [];
    }
    set(value) {
        this.value = value;
        this.dependents.forEach((cell) => cell.update());
    }
}
class Computed {
    constructor(cells, compute) {
        Object.assign(this, { cells, compute });
        cells.forEach((cell) => cell.dependents.push(this));
        this.value = compute(cells);
    }
    update() { this.value = this.compute(this.cells); }
}
// --- tests ---
const cell = new Cell(1);
const computed = new Computed([cell], (cells) => cells[0].value + 1);
assert.equal(computed.value, 2);
cell.set(4);
assert.equal(computed.value, 5);
assert.strictEqual(cell.dependents[0], computed);
