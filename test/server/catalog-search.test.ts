import { expect, it } from 'vitest';
import { createHandler } from '#server';
import { builtIn } from '../support/server.ts';

const handler = createHandler({ agents: [builtIn('echo'), builtIn('script')], publisher: 'pub.test', otel: false });
const search = async (
  body: unknown,
): Promise<{ status: number; body: Record<string, unknown> & { results?: { identifier: string; score: number; source: string }[] } }> => {
  const request = new Request('http://localhost/ard/search', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const response = await handler.fetch(request);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

it('finds agents by words, with integer scores and their source', async () => {
  const { status, body } = await search({ query: { text: 'echo the message unchanged' }, federation: 'none' });
  expect([status, body.results?.[0]?.identifier, body.results?.[0]?.source]).toEqual([
    200,
    'urn:air:pub.test:a2a:echo',
    'http://localhost/ard/',
  ]);
  for (const { score } of body.results ?? []) expect(Number.isInteger(score)).toBe(true);
  expect((await search({ query: { text: 'xylophone' } })).body.results).toEqual([]);
});

it('filters: values of one key are alternatives, all keys must match', async () => {
  const ids = async (filter: object): Promise<readonly string[]> =>
    (await search({ query: { text: 'message', filter } })).body.results?.map(({ identifier }) => identifier) ?? [];
  expect((await ids({ publisher: ['pub.test', 'x'] })).length).toBe(2);
  expect(await ids({ publisher: 'x' })).toEqual([]);
  expect(await ids({ tags: 'load', publisher: 'pub.test' })).toEqual(['urn:air:pub.test:a2a:script']);
  expect(await ids({ tags: ['load', 'echo'] })).toHaveLength(2);
});

it('pages the results and refuses invalid page tokens', async () => {
  const first = await search({ query: { text: 'message' }, pageSize: 1 });
  const second = await search({ query: { text: 'message' }, pageSize: 1, pageToken: first.body['pageToken'] });
  expect(new Set([...(first.body.results ?? []), ...(second.body.results ?? [])].map(({ identifier }) => identifier)).size).toBe(2);
  expect(second.body).not.toHaveProperty('pageToken');
  const bad = [
    {},
    { query: {} },
    { query: { text: '' } },
    { query: { text: 'x' }, pageSize: 0 },
    { query: { text: 'x' }, pageSize: 101 },
    { query: { text: 'x' }, pageToken: 'forged' },
    { query: { text: 'x' }, more: 1 },
    { query: { text: 'x', filter: { tags: 1 } } },
    [],
  ];
  for (const body of bad) expect((await search(body)).status, JSON.stringify(body)).toBe(400);
});

it('lists all agents', async () => {
  const response = await handler.fetch(new Request('http://localhost/ard/agents'));
  expect(await response.json()).toMatchObject({ items: [{ displayName: 'echo' }, { displayName: 'script' }], total: 2 });
});
