// expect: passed
function f(users) {
    return users.reduce((groups, user) => {
        (groups[user.city] ??= { people: [], meta: { count: 0 } }).people.push(user);
        groups[user.city].meta.count++;
        return groups;
    }, {});
}
// --- tests ---
const result = f([{ name: 'a', city: 'x' }, { name: 'b', city: 'x' }, { name: 'c', city: 'y' }]);
expect(result).toMatchObject({ x: { people: [{ name: 'a' }, { name: 'b' }], meta: { count: 2 } } });
expect(result).toHaveProperty('x.meta.count', 2);
expect(result).toHaveProperty(['y', 'people', 0, 'name'], 'c');
expect(result).toHaveProperty('y.people[0].name');
expect(result).not.toHaveProperty('z');
expect(result).toEqual({ x: expect.anything(), y: expect.objectContaining({ meta: { count: 1 } }) });
expect(Object.keys(result)).toEqual(expect.arrayContaining(['y', 'x']));
