import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { sdkExpress } from '../../support/sdk-server.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { fieldOf, jsonOf, run } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

const DONE = { result: { task: taskOf('COMPLETED') } };
const REST = {
  'POST /rest/message:send': () => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(DONE.result) }),
};
const iface = (url: string, protocolBinding: string, more: object = {}) => ({ url, protocolBinding, protocolVersion: '1.0', ...more });

describe('transport', () => {
  verifies('A2ACLI_TX_001', 'follows the order of the card', async () => {
    for (const [order, taken] of [
      [['JSONRPC', 'HTTP+JSON'], '/rpc'],
      [['HTTP+JSON', 'JSONRPC'], '/rest/message:send'],
    ] as const) {
      const agent = await fakeAgent({
        card: (url: string) => ({
          capabilities: {},
          supportedInterfaces: order.map((binding) => iface(`${url}/${binding === 'JSONRPC' ? 'rpc' : 'rest'}`, binding)),
        }),
        on: { ...REST, SendMessage: () => DONE },
      });
      expect((await run(['send', '-a', agent.url, 'hi'])).code).toBe(0);
      expect(agent.requests.at(-1)?.path).toBe(taken);
      await agent.close();
    }
  });

  verifies('A2ACLI_TX_002', 'skips unsupported interfaces, and uses --transport as an ordered preference', async () => {
    const agent = await fakeAgent({
      card: (url: string) => ({
        capabilities: {},
        supportedInterfaces: [iface('http://localhost:1', 'SOAP'), iface(`${url}/rpc`, 'JSONRPC'), iface(`${url}/rest`, 'HTTP+JSON')],
      }),
      on: { ...REST, SendMessage: () => DONE },
    });
    const taken = async (...flags: string[]): Promise<readonly (string | undefined)[]> => {
      const { code, err } = await run(['send', '-a', agent.url, ...flags, 'hi']);
      return [code === 0 ? agent.requests.at(-1)?.path : undefined, err];
    };
    expect(await taken()).toEqual(['/rpc', '']);
    expect(await taken('--transport', 'grpc', '--transport', 'rest')).toEqual(['/rest/message:send', '']);
    expect(await taken('--transport', 'rest', '--transport', 'jsonrpc')).toEqual(['/rest/message:send', '']);
    const fallback = 'warning: the card has no interface for --transport grpc; JSONRPC is used\n';
    expect(await taken('--transport', 'GRPC')).toEqual(['/rpc', fallback]);
    const odd = await run(['send', '-a', agent.url, '--transport', 'jsonrcp', 'hi']);
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('did you mean jsonrpc?')]);
    await agent.close();
  });

  verifies('A2ACLI_TX_003', 'sends exactly the tenant of the interface, or none', async () => {
    for (const tenant of ['acme', undefined]) {
      const agent = await fakeAgent({
        card: (url: string) => ({
          capabilities: {},
          supportedInterfaces: [iface(`${url}/rpc`, 'JSONRPC', tenant === undefined ? {} : { tenant })],
        }),
        on: {
          SendMessage: () => DONE,
          GetTask: () => ({ result: taskOf('COMPLETED') }),
          ListTasks: () => ({ result: { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 } }),
        },
      });
      for (const args of [
        ['send', 'hi'],
        ['task', 'get', 't-1'],
        ['task', 'list'],
      ])
        await run([...args, '-a', agent.url]);
      const calls = agent.requests.filter(({ rpc }) => rpc !== undefined);
      expect(calls.map(({ params }) => params['tenant'])).toEqual([tenant, tenant, tenant]);
      await agent.close();
    }
  });

  verifies('A2ACLI_TX_004', 'can be JSON-RPC or HTTP+JSON, with our server and the official one', async () => {
    const sdk = await sdkExpress('1.3.0');
    for (const url of [script.url, sdk.url]) {
      for (const transport of ['JSONRPC', 'HTTP+JSON']) {
        const sent = await run(['send', '-a', url, '--transport', transport, 'chunks=2', '--debug']);
        expect([sent.code, fieldOf(sent, 'State')], `${url} ${transport} ${sent.err.slice(-400)}`).toEqual([0, 'COMPLETED']);
        expect(/"jsonrpc"/.test(sent.err)).toBe(transport === 'JSONRPC');
      }
    }
    await sdk.close();
  });
});

describe('version', () => {
  verifies('A2ACLI_VER_001', 'is on every request, and never lower than asked', async () => {
    const agent = await fakeAgent({
      on: { SendStreamingMessage: () => ({ frames: [{ task: taskOf('COMPLETED') }] }), GetTask: () => ({ result: taskOf('COMPLETED') }) },
    });
    await run(['send', '-a', agent.url, 'hi']);
    expect(agent.requests.length).toBeGreaterThan(1);
    expect(agent.requests.map(({ headers }) => headers['a2a-version'])).toEqual(agent.requests.map(() => '1.0'));
    await agent.close();
    const refused = await run(['send', '-a', script.url, '--a2a-version', '99.0', '-o', 'json', 'hi']);
    expect([refused.code, jsonOf(refused)]).toMatchObject([1, { error: { code: 'VersionNotSupportedError', a2aCode: -32009 } }]);
    const old = await fakeAgent({
      card: (url: string) => ({ supportedInterfaces: [iface(`${url}/rpc`, 'JSONRPC', { protocolVersion: '0.3' })] }),
      on: {},
    });
    const silent = await run(['send', '-a', old.url, '-o', 'json', 'hi']);
    expect([silent.code, jsonOf(silent)]).toMatchObject([
      1,
      { error: { code: 'PARLEY_ERR_VERSION', a2aCode: null, hint: expect.stringContaining('--a2a-version 0.3') } },
    ]);
    expect(old.requests.filter(({ rpc }) => rpc !== undefined)).toHaveLength(0);
    await old.close();
    expect(fieldOf(await run(['send', '-a', script.url, '--a2a-version', '0.3', 'hello']), 'State')).toBe('COMPLETED');
  });

  verifies('A2ACLI_VER_002', 'declares required extensions that it supports, and reports the others', async () => {
    const uri = 'https://example.org/ext/v1';
    const agent = await fakeAgent({ card: { capabilities: { extensions: [{ uri, required: true }] } }, on: { SendMessage: () => DONE } });
    const without = await run(['send', '-a', agent.url, 'hi']);
    expect(without.err).toContain(`--extension ${uri}`);
    const declared = await run(['send', '-a', agent.url, '--extension', uri, 'hi']);
    expect(declared.err).not.toContain('requires');
    expect(agent.calls('SendMessage').map(({ headers }) => headers['a2a-extensions'])).toEqual([undefined, uri]);
    await agent.close();
  });

  excludes('A2ACLI_VER_003', 'uses no streams, push or extended card if the card declares none', async () => {
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: { '*': () => ({ error: { code: -32603, message: 'should not be called' } }) },
    });
    for (const words of ['task subscribe t-1', 'task push-config list t-1', 'card get --extended']) {
      const ran = await run([...words.split(' '), '-a', agent.url, '-o', 'json']);
      expect([ran.code, jsonOf(ran)], words).toMatchObject([1, { error: { code: 'PARLEY_ERR_NOT_DECLARED', a2aCode: null } }]);
    }
    expect(agent.requests.filter(({ rpc }) => rpc !== undefined)).toHaveLength(0);
    await agent.close();
  });
});

describe('defaults', () => {
  verifies('A2ACLI_DEFAULT_001', 'are all in the help, and a flag overrides each', async () => {
    const { out } = await run(['help', 'send']);
    for (const line of [
      /--transport .*default: the card's order/,
      /--wait .*default: on/,
      /--output .*default: text/,
      /--verbose .*default: concise/,
      /--a2a-version .*default: 1\.0/,
      /--insecure .*default: TLS verified/,
    ]) {
      expect(out).toMatch(line);
    }
    const sent = (...flags: string[]) => run(['send', '-a', script.url, ...flags, 'hello']);
    expect((await sent('--debug')).err).toContain('/a2a');
    expect((await sent('--debug', '--transport', 'rest')).err).toContain('/message:stream');
    expect(fieldOf(await sent(), 'State')).toBe('COMPLETED');
    expect((await sent('-o', 'json')).out).toMatch(/^\{/);
    expect((await sent()).out).not.toContain('Updated:');
    expect((await sent('-v')).out).toContain('Updated:');
  });
});
