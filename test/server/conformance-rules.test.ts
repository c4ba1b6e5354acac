import { afterAll, describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

/** Rules that the conformance kits of 0.3 and 1.0 check. */
const EXTENSION = 'urn:a2a:tck:required-extension';
const conformance = builtInAgents.get('conformance')?.create({ profile: 'required-extension' });
if (conformance === undefined) throw new Error('no agent conformance');
const requiring = handlerOf({ agents: [conformance] });
const plain = handlerOf();
afterAll(async () => {
  await requiring.close();
  await plain.close();
});

const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params });
const v03 = { message: { kind: 'message', messageId: 'm-ext', role: 'user', parts: [{ kind: 'text', text: 'hi' }] } };

describe('a required extension', () => {
  const CALLS: readonly (readonly [string, string, object, string])[] = [
    ['1.0 over JSON-RPC', '/a2a/jsonrpc', rpc('SendMessage', sendBody('hi')), 'A2A-Extensions'],
    ['0.3 over JSON-RPC', '/a2a/jsonrpc', rpc('message/send', v03), 'X-A2A-Extensions'],
    ['1.0 over HTTP+JSON', '/message:send', sendBody('hi'), 'A2A-Extensions'],
  ];

  it.each(CALLS)('has to be named in %s', async (_, path, body, header) => {
    const answer = async (headers: Record<string, string>): Promise<string> =>
      await (await requiring.fetch(jsonRequest(`http://localhost${path}`, body, headers))).text();
    expect(await answer({})).toMatch(/-32008|EXTENSION_SUPPORT_REQUIRED/);
    expect(await answer({ [header]: EXTENSION })).not.toMatch(/-32008|EXTENSION_SUPPORT_REQUIRED/);
  });

  it('leaves the card readable', async () => {
    expect((await requiring.fetch(new Request('http://localhost/.well-known/agent-card.json'))).status).toBe(200);
  });
});

describe('0.3', () => {
  const call = async (
    body: object,
    path = '/a2a/jsonrpc',
  ): Promise<{ readonly result?: { readonly id: string }; readonly error?: { readonly code: number } }> =>
    await (await plain.fetch(jsonRequest(`http://localhost${path}`, body))).json();
  const asking = { message: { ...v03.message, messageId: 'm-ask', parts: [{ kind: 'text', text: 'ask' }] } };

  it('rejects a second cancel with −32002, and 1.0 returns the task', async () => {
    const id = (await call(rpc('message/send', asking))).result?.id ?? '';
    expect((await call(rpc('tasks/cancel', { id }))).result?.id).toBe(id);
    expect((await call(rpc('tasks/cancel', { id }))).error?.code).toBe(-32002);
    expect((await call(rpc('CancelTask', { id }))).result?.id).toBe(id);
  });

  it('accepts an empty authentication of a push config over HTTP+JSON', async () => {
    const id = (await call(rpc('message/send', { message: { ...asking.message, messageId: 'm-push' } }))).result?.id ?? '';
    const config = {
      name: `tasks/${id}/pushNotificationConfigs/c1`,
      pushNotificationConfig: { id: 'c1', url: 'https://hooks.example/x', authentication: {} },
    };
    const answered = await plain.fetch(
      jsonRequest(`http://localhost/v1/tasks/${id}/pushNotificationConfigs`, { parent: `tasks/${id}`, configId: 'c1', config }),
    );
    expect(await answered.text()).not.toContain('schemes');
  });

  it.each([
    ['an unknown method', { method: 'tasks/frobnicate', params: {} }, -32601],
    ['bad params', { method: 'message/send', params: {} }, -32602],
    ['nothing else wrong', { method: 'tasks/get', params: { id: 't' } }, -32600],
    ['an unknown method of messages, at the root', { method: 'message/ssend', params: {} }, -32601, '/'],
  ])('answers a request without id and with %s', async (_, request, code, path?: string) => {
    expect((await call({ jsonrpc: '2.0', ...request }, path)).error?.code).toBe(code);
  });
});
