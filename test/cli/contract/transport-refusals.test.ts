import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CARD } from '../../support/card.ts';
import type { GrpcJsServer } from '../../support/grpc-js-server.ts';
import { grpcJsServer } from '../../support/grpc-js-server.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { builtIn } from '../../support/server.ts';
import type { Talk } from '../../support/talk.ts';
import { talkTo } from '../../support/talk.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { fieldOf, jsonOf, run } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
let talk: Talk;
let grpc: GrpcJsServer;
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
  talk = await talkTo(builtIn('script'));
  grpc = await grpcJsServer(talk.service);
});
afterAll(async () => {
  grpc.close();
  await talk.stop();
  await script.stop();
});

const DONE = { result: { task: taskOf('COMPLETED') } };
const iface = (url: string, protocolBinding: string, more: object = {}) => ({ url, protocolBinding, protocolVersion: '1.0', ...more });
const bearer = { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } };

describe('transport', () => {
  excludes('A2ACLI_TX_001', 'a card without a transport that parley supports is not called', async () => {
    const agent = await fakeAgent({ card: (url: string) => ({ supportedInterfaces: [iface(`${url}/x`, 'CARRIER-PIGEON')] }), on: {} });
    const ran = await run(['send', '-a', agent.url, '-o', 'json', 'hi']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([1, { error: { code: 'PARLEY_ERR_NO_INTERFACE' } }]);
    expect(agent.requests.filter(({ method }) => method === 'POST')).toEqual([]);
    await agent.close();
  });

  excludes('A2ACLI_TX_002', 'an unknown binding is a wrong call', async () => {
    const ran = await run(['send', '-a', script.url, '--transport', 'jsonrpc', '--transport', 'soap', '-o', 'json', 'hi']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([2, { error: { code: 'A2ACLI_ERR_USAGE' } }]);
  });

  excludes('A2ACLI_TX_003', 'an interface without a tenant gets none, also if another interface has one', async () => {
    const agent = await fakeAgent({
      card: (url: string) => ({
        capabilities: {},
        supportedInterfaces: [iface(`${url}/rpc`, 'JSONRPC'), iface(`${url}/other`, 'JSONRPC', { tenant: 'acme' })],
      }),
      on: { SendMessage: () => DONE },
    });
    await run(['send', '-a', agent.url, 'hi']);
    expect(agent.calls('SendMessage').map(({ params }) => 'tenant' in params)).toEqual([false]);
    await agent.close();
  });

  excludes('A2ACLI_TX_004', 'a preferred transport that the card does not have is not called', async () => {
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => DONE } });
    const ran = await run(['send', '-a', agent.url, '--transport', 'rest', 'hi']);
    expect([ran.code, agent.requests.filter(({ method }) => method === 'POST').map(({ path }) => path)]).toEqual([0, ['/rpc']]);
    await agent.close();
  });

  verifies('A2ACLI_TX_005', '--transport grpc calls the gRPC interface of the card, or the address of --endpoint', async () => {
    const agent = await fakeAgent({
      card: (url: string) => ({ capabilities: {}, supportedInterfaces: [iface(`${url}/rpc`, 'JSONRPC'), iface(grpc.address, 'GRPC')] }),
      on: { SendMessage: () => DONE },
    });
    for (const target of [
      ['-a', agent.url],
      ['-e', grpc.address],
    ]) {
      const before = grpc.calls.length;
      const ran = await run(['send', ...target, '--transport', 'grpc', '-o', 'json', 'hello']);
      expect([ran.code, jsonOf(ran)]).toMatchObject([0, { task: { status: { state: 'TASK_STATE_COMPLETED' } } }]);
      expect(grpc.calls.slice(before).map(({ method }) => method)).toContain('SendMessage');
    }
    expect(agent.calls('SendMessage')).toEqual([]);
    const unknown = await run(['task', 'get', '-e', grpc.address, '--transport', 'grpc', 'nobody', '-o', 'json']);
    expect([unknown.code, jsonOf(unknown)]).toMatchObject([1, { error: { code: 'TaskNotFoundError', a2aCode: 5 } }]);
    await agent.close();
  });

  excludes('A2ACLI_TX_005', 'an address of gRPC is not called in another binding', async () => {
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => DONE } });
    const ran = await run(['send', '-e', agent.url, '--transport', 'grpc', '-o', 'json', 'hello']);
    expect([ran.code, ran.out]).toEqual([1, expect.stringContaining('HTTP/2')]);
    expect(agent.requests).toEqual([]);
    await agent.close();
  });

  excludes('A2ACLI_VER_001', 'no service parameter replaces the version, and none below 1.0 is used by itself', async () => {
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => DONE } });
    for (const given of ['A2A-Version: 0.3', 'a2a-version=']) {
      const ran = await run(['send', '-a', agent.url, '--svc-param', given, 'hi']);
      expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('--a2a-version')]);
    }
    expect(agent.requests).toEqual([]);
    await run(['conformance', '-a', agent.url]);
    expect(agent.requests.map(({ headers }) => headers['a2a-version'] ?? 'missing')).not.toContain('missing');
    await agent.close();
  });

  excludes('A2ACLI_VER_002', 'an extension that was not named is not declared', async () => {
    const extensions = [{ uri: 'https://example.org/ext/v1', required: true }];
    const agent = await fakeAgent({ card: { capabilities: { extensions } }, on: { SendMessage: () => DONE } });
    await run(['send', '-a', agent.url, '--extension', 'https://example.org/other', 'hi']);
    expect(agent.calls('SendMessage')[0]?.headers['a2a-extensions']).toBe('https://example.org/other');
    await agent.close();
  });

  verifies('A2ACLI_VER_003', 'what the card declares is called', async () => {
    const agent = await fakeAgent({
      card: { capabilities: { streaming: true, pushNotifications: true } },
      on: {
        SendStreamingMessage: () => ({ frames: [{ task: taskOf('COMPLETED') }] }),
        ListTaskPushNotificationConfigs: () => ({ result: { configs: [] } }),
      },
    });
    expect((await run(['send', '-a', agent.url, '--stream', 'hi'])).code).toBe(0);
    expect((await run(['task', 'push-config', 'list', 't-1', '-a', agent.url, '-o', 'json'])).code).toBe(0);
    expect([agent.calls('SendStreamingMessage').length, agent.calls('ListTaskPushNotificationConfigs').length]).toEqual([1, 1]);
    await agent.close();
  });
});

describe('the card', () => {
  excludes('A2ACLI_CARD_GET_001', 'what is no card is not taken for one', async () => {
    const agent = await fakeAgent({
      on: { 'GET /page': () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>hi</h1>' }) },
    });
    const page = await run(['card', 'get', '-a', `${agent.url}/page`, '-o', 'json']);
    expect([page.code, jsonOf(page)]).toMatchObject([1, { error: { code: 'A2ACLI_ERR_CARD_INVALID' } }]);
    const nowhere = await run(['card', 'get', '-a', 'file:///no/such/card.json', '-o', 'json']);
    expect([nowhere.code, jsonOf(nowhere)]).toMatchObject([3, { error: { code: 'A2ACLI_ERR_CARD_NOT_FOUND' } }]);
    await agent.close();
  });

  excludes('A2ACLI_CARD_GET_003', 'no extended card is asked for without a scheme, or without a credential for one', async () => {
    const extendedAgentCard = { capabilities: { extendedAgentCard: true } };
    const on = { GetExtendedAgentCard: () => ({ result: CARD }) };
    const open = await fakeAgent({ card: extendedAgentCard, on });
    const none = await run(['card', 'get', open.url, '--extended', '--bearer', 'tok-12345', '-o', 'json']);
    expect([none.code, jsonOf(none)]).toMatchObject([1, { error: { code: 'PARLEY_ERR_NOT_DECLARED' } }]);
    const guarded = await fakeAgent({ card: { ...extendedAgentCard, ...bearer }, on });
    const unknown = await run(['card', 'get', guarded.url, '--extended', '-o', 'json']);
    expect([unknown.code, jsonOf(unknown)]).toMatchObject([4, { error: { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } }]);
    expect([...open.requests, ...guarded.requests].filter(({ method }) => method === 'POST')).toEqual([]);
    await open.close();
    await guarded.close();
  });
});

describe('errors', () => {
  excludes('A2ACLI_OUT_004', 'findings of our own have no protocol name, and the numbers of the server are kept', async () => {
    const findings = [
      { status: 404, body: 'nope' },
      { status: 200, body: 'not json' },
      { status: 500, body: 'broken' },
    ];
    for (const reply of findings) {
      const agent = await fakeAgent({ card: { capabilities: {} }, on: { '*': () => reply } });
      const { error } = jsonOf<{ error: { code: string } }>(
        await run(['task', 'get', '-a', agent.url, 't', '-o', 'json', '--timeout', '20s']),
      );
      expect(error.code, JSON.stringify(reply)).toMatch(/^(?:PARLEY_ERR|A2ACLI_ERR)_/);
      await agent.close();
    }
    for (const code of [-32006, -32042, 17]) {
      const agent = await fakeAgent({ card: { capabilities: {} }, on: { '*': () => ({ error: { code, message: 'no' } }) } });
      const { error } = jsonOf<{ error: { code: string; a2aCode: unknown } }>(
        await run(['task', 'get', '-a', agent.url, 't', '-o', 'json']),
      );
      expect([error.code, error.a2aCode]).toEqual([code === -32006 ? 'InvalidAgentResponseError' : 'InternalError', code]);
      await agent.close();
    }
  });

  excludes('A2ACLI_EXIT_002', 'a call that the agent refuses is not exit 0', async () => {
    const refused = await run(['task', 'get', '-a', script.url, 'nobody']);
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(fieldOf(refused, 'State')).toBeUndefined();
  });

  excludes('A2ACLI_EXIT_001', '401 and 403 are credentials on both bindings, a 404 and a blocked port are not', async () => {
    const replies = {
      JSONRPC: { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'who?' } },
      'HTTP+JSON': { error: { code: 401, message: 'who?' } },
    };
    for (const [binding, body] of Object.entries(replies)) {
      for (const status of [401, 403]) {
        const reply = { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
        const card = (url: string) => ({ capabilities: {}, ...bearer, supportedInterfaces: [iface(`${url}/x`, binding)] });
        const agent = await fakeAgent({ card, on: { '*': () => reply } });
        const ran = await run(['task', 'get', '-a', agent.url, '--bearer', 'tok-12345', 't', '-o', 'json']);
        expect([ran.code, jsonOf(ran)]).toMatchObject([4, { error: { code: 'A2ACLI_ERR_AUTH_FAILED', a2aCode: status } }]);
        await agent.close();
      }
    }
    const missing = await fakeAgent({ card: { capabilities: {} }, on: { '*': () => ({ status: 404 }) } });
    const lost = await run(['send', '-a', missing.url, '-o', 'json', 'hi']);
    expect([lost.code, jsonOf(lost)]).toMatchObject([1, { error: { code: 'PARLEY_ERR_HTTP_ERROR', a2aCode: 404 } }]);
    await missing.close();
    const blocked = await run(['send', '-a', 'http://127.0.0.1:6000', '-o', 'json', 'hi']);
    expect([blocked.code, jsonOf(blocked)]).toMatchObject([3, { error: { code: 'A2ACLI_ERR_UNREACHABLE' } }]);
  });
});
