// expect: passed
// entry: Team
class Team {
    constructor(names) { this.names = [...names]; }
    list() { return [...this.names]; }
}
// --- tests ---
const names = ['a'];
const team = new Team(names);
names.push('b');
assert.deepEqual(team.list(), ['a']);
team.list().push('c');
assert.deepEqual(team.list(), ['a']);
