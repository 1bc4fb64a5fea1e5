// expect: passed
function f() {
    return {
        items: [],
        total: 0,
        add(item) {
            this.items.push(item);
            this.total += item.price;
            return this;
        },
    };
}
// --- tests ---
const cart = f();
cart.add({ price: 2 }).add({ price: 3 });
expect(cart.total).toBe(5);
expect(cart.items).toHaveLength(2);
expect(cart.items[1]).toEqual({ price: 3 });
expect(cart).toMatchObject({ total: 5, items: [{ price: 2 }, {}] });
