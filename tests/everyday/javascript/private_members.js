// expect: passed
// entry: Account
class Account {
    #balance = 0;
    static count = 0;
    constructor(owner) {
        this.owner = owner;
        Account.count++;
    }
    get balance() { return this.#balance; }
    set limit(value) { this.max = value; }
    deposit(amount) {
        if (amount <= 0) throw new RangeError('not positive');
        this.#balance += amount;
    }
    static compare(a, b) { return a.balance - b.balance; }
    toJSON() { return { owner: this.owner, balance: this.#balance }; }
}
// --- tests ---
describe('Account', () => {
  it('keeps a balance', () => {
    const account = new Account('Ada');
    account.deposit(5);
    expect(account.balance).toBe(5);
    expect(() => account.deposit(0)).toThrow(RangeError);
    expect(JSON.stringify(account)).toBe('{"owner":"Ada","balance":5}');
    account.limit = 9;
    expect(account.max).toBe(9);
    expect(Account.count).toBe(1);
  });
  it('compares', () => {
    const [a, b] = [new Account('a'), new Account('b')];
    b.deposit(2);
    expect(Account.compare(a, b)).toBe(-2);
    expect([b, a].sort(Account.compare).map(({ owner }) => owner)).toEqual(['a', 'b']);
    expect(a.owner).not.toBe(b.owner);
  });
});
