import { afterEach, describe, expect, it, vi } from 'vitest';
import { toHttpRequest } from '#bindings';
import type { AdminWirePage } from '#protocol';
import type { Handler } from '#server';
import { tokenAuth } from '#server';
import { createTrafficRecorder } from '../../src/server/traffic/recorder.ts';
import { handlerOf, jsonRequest, rpcSend, sendBody } from '../support/server.ts';

const TOKEN = 'the-token-of-the-operator-0123456789';
const open: Handler[] = [];
afterEach(async () => {
  for (const handler of open.splice(0)) await handler.close();
});
const AT = 'http://localhost';
const KEY = { Authorization: `Bearer ${TOKEN}` };

function node(): { call: (path: string, init?: RequestInit) => Promise<Response>; look: (after?: number) => Promise<AdminWirePage> } {
  const handler = handlerOf({ auth: [tokenAuth((given) => given === TOKEN)] });
  open.push(handler);
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    handler.fetch(new Request(`${AT}${path}`, { ...init, headers: { ...KEY, ...init.headers } }));
  const look = async (after = 0): Promise<AdminWirePage> =>
    (await (await call(`/api/parley/v1/wire?after=${after}`)).json()) as AdminWirePage;
  return { call, look };
}
const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

describe('the traffic recorder', () => {
  it('is off until an admin starts it, and only admins can read it', async () => {
    const { call, look } = node();
    await call('/a2a', post(rpcSend('one')));
    expect(await look()).toEqual({ isOn: false, last: 0, exchanges: [] });
    const stranger = await call('/api/parley/v1/wire:start', { method: 'POST', headers: { Authorization: 'Bearer wrong' } });
    expect(stranger.status).toBe(401);
    expect((await call('/api/parley/v1/wire:start', { method: 'POST' })).status).toBe(204);
    await call('/a2a', post(rpcSend('two')));
    await call('/agents/echo/.well-known/agent-card.json');
    const { isOn, exchanges } = await look();
    expect([isOn, exchanges.map(({ method, target, status }) => `${method} ${target} ${status}`)]).toEqual([
      true,
      ['POST /a2a 200', 'GET /agents/echo/.well-known/agent-card.json 200'],
    ]);
    expect(exchanges[0]).toMatchObject({ body: expect.stringContaining('two'), answer: expect.stringContaining('chunk 1') });
    expect((await call('/api/parley/v1/wire:nonsense', { method: 'POST' })).status).toBe(404);
  });

  it('records no credentials, wherever they occur', async () => {
    const { call, look } = node();
    await call('/api/parley/v1/wire:start', { method: 'POST' });
    const secrets = {
      header: TOKEN,
      query: 'canary-in-the-query',
      token: 'canary-of-a-webhook',
      credentials: 'canary-credentials',
      text: 'Bearer canary.in.a.text.1234',
      apiKey: 'canary-api-key',
      cookie: 'canary-cookie',
      custom: 'canary-custom-header',
    };
    const body = sendBody(`use ${secrets.text}`, {
      metadata: { apiKey: secrets.apiKey, nested: { password: secrets.credentials } },
      configuration: {
        taskPushNotificationConfig: {
          url: 'https://example.org/hook',
          token: secrets.token,
          authentication: { scheme: 'Bearer', credentials: secrets.credentials },
        },
      },
    });
    const headers = { Cookie: `sid=${secrets.cookie}`, 'X-Api-Key': secrets.apiKey, 'X-Custom': secrets.custom };
    for (const path of ['/message:send', '/message:stream', '/a2a'])
      await (
        await call(`${path}?access_token=${secrets.query}`, {
          ...post(path === '/a2a' ? { ...rpcSend('x'), params: body } : body),
          headers: { 'Content-Type': 'application/json', ...headers },
        })
      ).text();
    // A body that is cut in the middle of a member is still cleaned.
    await call('/message:send', post({ ...body, metadata: { filler: 'x'.repeat(32_500), token: secrets.token.repeat(40) } }));
    await call('/message:send', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: `{"token": "${secrets.token}` });
    const page = await look();
    expect(page.exchanges).toHaveLength(5);
    const text = JSON.stringify(page);
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
    expect(text).not.toContain('canary');
    expect(text).toContain('[removed]');
    expect(page.exchanges[0]?.headers).toContainEqual(['authorization', '[removed]']);
  });

  it('records a stream while it is sent, and returns only what changed since the last read', async () => {
    const { call, look } = node();
    await call('/api/parley/v1/wire:start', { method: 'POST' });
    await call('/a2a', post(rpcSend('first')));
    const { last } = await look();
    const stream = await call('/message:stream', post(sendBody('chunks=3 delay=20')));
    const under = await look(last);
    expect(under.exchanges).toMatchObject([{ isStream: true, status: 200 }]);
    expect(under.exchanges[0]?.endedMs).toBeUndefined();
    await stream.text();
    const [over] = (await look(under.last)).exchanges;
    expect(over?.frames.length).toBeGreaterThan(3);
    expect(over?.frames.map(({ text }) => text).join()).toContain('chunk 3');
    expect(over?.endedMs).toBeGreaterThan(0);
    const left = await call('/message:stream', post(sendBody('sleep=400')));
    await left.body?.cancel();
    expect((await look(over === undefined ? 0 : last)).exchanges.at(-1)?.endedMs).toBeGreaterThan(0);
  });

  it('keeps the last hundred exchanges and truncates long bodies', async () => {
    const { call, look } = node();
    await call('/api/parley/v1/wire:start', { method: 'POST' });
    for (let n = 0; n < 105; n += 1) await call('/a2a', post(rpcSend(`n=${n} ${n === 104 ? 'y'.repeat(60_000) : ''}`)));
    const { exchanges } = await look();
    expect(exchanges).toHaveLength(100);
    expect([exchanges[0]?.body.includes('n=5 '), exchanges.at(-1)?.isCut]).toEqual([true, true]);
    expect(exchanges.at(-1)?.body.length).toBeLessThan(33_000);
    expect((await call('/api/parley/v1/wire', { method: 'DELETE' })).status).toBe(204);
    expect((await look()).exchanges).toEqual([]);
  });

  it('stops and deletes its records when nobody reads it any more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const wire = createTrafficRecorder(60);
    const asked = toHttpRequest(jsonRequest(`${AT}/a2a`, {}));
    wire.start();
    const tape = wire.begin(asked);
    tape?.responded({ status: 200, headers: {}, body: '{}' }, { route: undefined });
    expect(wire.look(0).exchanges).toHaveLength(1);
    vi.advanceTimersByTime(40);
    expect(wire.look(0)).toMatchObject({ isOn: true, exchanges: [{ status: 200 }] });
    vi.advanceTimersByTime(60);
    expect([wire.begin(asked), wire.look(0)]).toEqual([undefined, { isOn: false, last: 1, exchanges: [] }]);
    vi.useRealTimers();
  });
});
