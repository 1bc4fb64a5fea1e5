// expect: passed
async function f(api, id) {
    const user = await api.get(`/users/${id}`);
    const posts = await api.get(`/users/${id}/posts`);
    return { ...user, posts: posts.map(({ title }) => title) };
}
// --- tests ---
test('gathers', async () => {
  const api = { get: jest.fn(async (path) => (path.endsWith('posts') ? [{ title: 'a' }, { title: 'b' }] : { id: 7, name: 'Ada' })) };
  await expect(f(api, 7)).resolves.toEqual({ id: 7, name: 'Ada', posts: ['a', 'b'] });
  expect(api.get).toHaveBeenNthCalledWith(2, '/users/7/posts');
});
