import { describe, expect, it } from 'vitest';
import type { Dialect } from '#protocol';
import { pushConfigId } from '#protocol';
import { errorOf, userMessage } from '../support/calls.ts';
import { ctx, html, ID, json, MESSAGE, rpcLink, TASK, v10 } from '../support/links.ts';

/** Answers a JSON-RPC request under its own id. */
const result =
  (value: unknown): ((request: Request) => Promise<Response>) =>
  async (request) => {
    const { id } = (await request.json()) as { id: unknown };
    return json({ jsonrpc: '2.0', id, result: value });
  };

describe('a JSON-RPC link', () => {
  it('counts its envelope ids', async () => {
    const ids: unknown[] = [];
    const link = rpcLink(async (request) => {
      ids.push(((await request.clone().json()) as { id: unknown }).id);
      return await result(TASK)(request);
    });
    await Promise.all([link.get({ id: ID }, ctx), link.get({ id: ID }, ctx), link.get({ id: ID }, ctx)]);
    expect(ids).toEqual([1, 2, 3]);
  });

  it('uses the dialect’s envelope id, if the dialect defines one', async () => {
    const dialect: Dialect = { ...v10, rpcId: (_, value) => (value as { id: string }).id };
    const link = rpcLink(
      async (request) => {
        expect(((await request.clone().json()) as { id: unknown }).id).toBe('t1');
        return await result(TASK)(request);
      },
      { dialect },
    );
    await link.get({ id: ID }, ctx);
  });

  it('creates a task name if the dialect needs one and the caller gave none', async () => {
    const named: unknown[] = [];
    const dialect: Dialect = {
      ...v10,
      wire: { ...v10.wire, callerNamesTask: true },
      encode: (shape, value) => {
        if (shape === 'send.request') named.push((value as { alias?: string }).alias);
        return v10.encode(shape, value);
      },
    };
    const link = rpcLink(result({ task: TASK }), { dialect, ids: { next: () => 'minted' } });
    await link.send(MESSAGE, ctx);
    await link.send({ message: userMessage('x', { taskId: ID }) }, ctx);
    await link.send({ ...MESSAGE, alias: 'mine' as never }, ctx);
    expect(named).toEqual(['minted', 't1', 'mine']);
  });

  const answers: readonly (readonly [name: string, response: () => Response, kind: string])[] = [
    ['an error in a 500', () => json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no' } }, 500), 'TASK_NOT_FOUND'],
    ['an error in a 404', () => json({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } }, 404), 'METHOD_NOT_FOUND'],
    ['an error without jsonrpc', () => json({ error: { code: -32002, message: 'no' } }), 'TASK_NOT_CANCELABLE'],
    [
      'an error beside a null result',
      () => json({ jsonrpc: '2.0', id: 1, result: null, error: { code: -32001, message: 'no' } }),
      'TASK_NOT_FOUND',
    ],
    ['a result beside a null error', () => json({ jsonrpc: '2.0', id: 1, result: TASK, error: null }), 'none'],
    ['a result without an id', () => json({ result: TASK }), 'none'],
    ['a result under null', () => json({ jsonrpc: '2.0', id: null, result: TASK }), 'none'],
    ['a result under another id', () => json({ jsonrpc: '2.0', id: 77, result: TASK }), 'INVALID_AGENT_RESPONSE'],
    ['a result in a 500', () => json({ jsonrpc: '2.0', id: 1, result: TASK }, 500), 'INVALID_AGENT_RESPONSE'],
    ['no result', () => json({ jsonrpc: '2.0', id: 1 }), 'INVALID_AGENT_RESPONSE'],
    ['null', () => json(null), 'INVALID_AGENT_RESPONSE'],
    ['a list', () => json([]), 'INVALID_AGENT_RESPONSE'],
    ['something else', () => json({ hello: 'world' }), 'INVALID_AGENT_RESPONSE'],
    ['nothing', () => new Response(null), 'INVALID_AGENT_RESPONSE'],
    ['a task without a state', () => json({ jsonrpc: '2.0', id: 1, result: { id: 't1' } }), 'INVALID_AGENT_RESPONSE'],
    ['a page', () => html(200), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 404', () => html(404), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 500', () => html(500), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 401', () => html(401), 'UNAUTHENTICATED'],
    ['a page in a 403', () => html(403), 'PERMISSION_DENIED'],
    ['a page in a 413', () => html(413), 'PAYLOAD_TOO_LARGE'],
    ['a page in a 502', () => html(502), 'UNAVAILABLE'],
    ['a page in a 503', () => html(503), 'UNAVAILABLE'],
    ['a redirect', () => new Response(null, { status: 302, headers: { Location: 'http://other.example/' } }), 'INVALID_AGENT_RESPONSE'],
    [
      'JSON that is too deep',
      () => new Response('['.repeat(100), { headers: { 'Content-Type': 'application/json' } }),
      'INVALID_AGENT_RESPONSE',
    ],
  ];
  for (const [name, response, kind] of answers) {
    it(`reads ${name} as ${kind}`, async () => {
      const getting = rpcLink(response).get({ id: ID }, ctx);
      if (kind === 'none') return expect((await getting).id).toBe('t1');
      const error = await errorOf(getting);
      expect([error.kind, error.message.includes('secret')]).toEqual([kind, false]);
    });
  }

  it('accepts every empty result of a delete', async () => {
    for (const answer of [{ result: null }, { result: {} }, {}]) {
      const link = rpcLink(() => json({ jsonrpc: '2.0', id: 1, ...answer }));
      await expect(link.push.delete({ taskId: ID, id: pushConfigId('p') }, ctx)).resolves.toBeUndefined();
    }
  });

  it('reads null as an unknown task if the dialect does', async () => {
    const dialect = { ...v10, wire: { ...v10.wire, nullForUnknownTask: true as const } };
    for (const answer of [{ result: null }, {}]) {
      const link = rpcLink(() => json({ jsonrpc: '2.0', id: null, ...answer }), { dialect });
      expect((await errorOf(link.get({ id: ID }, ctx))).kind).toBe('TASK_NOT_FOUND');
      expect((await errorOf(link.cancel({ id: ID }, ctx))).kind).toBe('TASK_NOT_FOUND');
    }
  });

  it('reads Retry-After', async () => {
    const error = await errorOf(rpcLink(() => html(429, { 'Retry-After': '7' })).get({ id: ID }, ctx));
    expect([error.kind, error.details.retryAfterMs]).toEqual(['RATE_LIMITED', 7000]);
  });

  it('calls its headers function for each request', async () => {
    let count = 0;
    const seen: unknown[] = [];
    const link = rpcLink(
      async (request) => {
        seen.push(request.headers.get('authorization'));
        return await result(TASK)(request);
      },
      { headers: async () => ({ Authorization: `Bearer ${++count}` }) },
    );
    await link.get({ id: ID }, ctx);
    await link.get({ id: ID }, ctx);
    expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
  });
});
