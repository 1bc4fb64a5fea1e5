// expect: passed
function f(base, query) {
    const url = new URL('/search', base);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    return url;
}
// --- tests ---
const url = f('https://example.org', { q: 'a b', n: 2 });
assert.equal(url.href, 'https://example.org/search?q=a+b&n=2');
assert.equal(url.searchParams.get('n'), '2');
assert(url instanceof URL);
assert.equal(String(url), url.href);
