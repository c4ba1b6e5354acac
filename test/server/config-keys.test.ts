import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import type { Broker, Incoming } from '#mesh';
import type { Agent } from '#protocol';
import type { ParleyConfig, Settings } from '#server';
import { KEYS, resolveConfig } from '#server';
import { findAgent } from '../../src/cli/agents.ts';
import { connectBroker } from '../../src/cli/mesh/broker.ts';
import { serveOnMesh } from '../../src/cli/mesh/serving.ts';
import type { Served } from '../../src/server/adapters/node.ts';
import { logFor, serveConfigured } from '../../src/server/adapters/node-settings.ts';
import { isFull } from '../faults/size.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { builtIn, eventually, metric, raw, sendBody, startServer } from '../support/server.ts';
import { blocksOf, rawStream } from '../support/sse.ts';
import { AUTH_CHECKS } from './auth-checks.ts';
import { RUN_CHECKS } from './run-keys.ts';

/**
 * Every key does something: each check below serves with the key set, by way of a configuration file, and fails if it is ignored. What the
 * engine does with a limit that shows only after a crash or in memory is its own tests' business; that it arrives there is seen in
 * engine-limits.test.ts. In the full size each check is run once more with its key ignored, and has to fail.
 */
const folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Setup {
  readonly agent?: Agent;
  readonly lines?: string[];
}

/** The key that is ignored: the control of each check, which must then fail. */
let ignored: string | undefined;

function resolved(config: ParleyConfig): Settings {
  return resolveConfig({ file: { path: 'parley.config.ts', config: ignored === undefined ? config : without(config, ignored) } });
}

function without(config: ParleyConfig, key: string): ParleyConfig {
  const copy: Record<string, unknown> = structuredCloned(config);
  const steps = key.split('.');
  const last = steps.pop() ?? '';
  const holder = steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], copy);
  if (holder !== undefined) delete (holder as Record<string, unknown>)[last];
  return copy;
}

/** Agents have functions, which no clone has: they stay what they are. */
function structuredCloned({ agents, ...config }: ParleyConfig): Record<string, unknown> {
  return { ...structuredClone(config), ...(agents === undefined ? {} : { agents }) };
}

/** Serves what the configuration says, as `parley serve` does, and takes it down afterwards. */
async function served(given: ParleyConfig, use: (server: Served, settings: Settings) => Promise<void>, setup: Setup = {}): Promise<void> {
  const base: ParleyConfig = { port: 0, memory: true, agents: ['script', 'echo'], log: 'silent' };
  const settings = resolved({ ...base, ...given });
  const found =
    setup.agent === undefined
      ? await Promise.all(settings.agents.map((given) => findAgent(given, settings)))
      : [{ agent: setup.agent, source: 'x' }];
  const server = await serveConfigured(found, settings, { log: logFor(settings, (line) => setup.lines?.push(line)) });
  try {
    await use(server, settings);
  } finally {
    await server.close();
  }
}

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) });

interface Sent {
  readonly task: { readonly id: string; readonly contextId: string; readonly status: { readonly state: string } };
}
const send = async ({ url }: Served, text: string, configuration: object = {}): Promise<Sent['task']> =>
  ((await (await post(`${url}/message:send`, sendBody(text, { configuration }))).json()) as Sent).task;
const start = (server: Served, text: string): Promise<Sent['task']> => send(server, text, { returnImmediately: true });
const stateOf = async ({ url }: Served, id: string): Promise<string> =>
  ((await (await fetch(`${url}/tasks/${id}`)).json()) as Sent['task']).status.state;
const cardOf = async ({ url }: Served): Promise<Record<string, unknown>> =>
  (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as Record<string, unknown>;

/** Talks within its run, and keeps something for each conversation. */
const talker = defineAgent({
  name: 'talker',
  description: 'asks',
  open: () => ({ open: true }),
  run: async (turn) => (turn.text === 'ask' ? (await turn.ask('well?')).text : 'x'),
});
const deaf = defineAgent({
  name: 'deaf',
  description: 'hears no signal',
  run: async (turn) => (turn.text === 'work' ? sleep(4000).then(() => 'x') : 'x'),
});

/** The same on a broker inside this process; `listen` is there before the node is, and says what to wait for. */
async function onMesh(config: ParleyConfig, listen: (broker: Broker) => Promise<() => Promise<void>>): Promise<void> {
  const broker = await connectBroker('memory');
  const settled = await listen(broker);
  const settings = resolved({ port: 0, memory: true, agents: ['echo'], log: 'silent', mesh: 'memory', ...config });
  const found = await Promise.all(settings.agents.map((given) => findAgent(given, settings)));
  const server = await serveOnMesh(found, settings, { log: logFor(settings) });
  try {
    await Promise.race([settled(), sleep(3000).then(() => Promise.reject(new Error('nothing was heard on the broker')))]);
  } finally {
    await server.close();
    await broker.close();
  }
}

const MQTT: ParleyConfig = { meshGrammar: 'mqtt01', namespace: 'acme/lab' };

/** Under which topic the card of the agent comes. */
async function announcedAt(config: ParleyConfig, topic: string): Promise<void> {
  await onMesh(config, async (broker) => {
    const announced = Promise.withResolvers<void>();
    await broker.subscribe({ filter: topic, take: () => announced.resolve() });
    return () => announced.promise;
  });
}

const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  ...RUN_CHECKS,
  agents: () =>
    served({ agents: ['echo', builtIn('script')] }, async ({ handler }) =>
      expect(handler.agents.map(({ name }) => name)).toEqual(['echo', 'script']),
    ),
  port: async () => {
    let taken = 0;
    await served({}, async ({ port }) => {
      taken = port;
    });
    await served({ port: taken }, async ({ port }) => expect(port).toBe(taken));
  },
  host: () => served({ host: '127.0.0.2' }, async ({ url }) => expect(url).toMatch(/^http:\/\/127\.0\.0\.2:/)),
  url: () =>
    served({ url: 'https://a.example/x' }, async (server) =>
      expect(JSON.stringify(await cardOf(server))).toContain('https://a.example/x/a2a'),
    ),
  data: () =>
    served({ data: join(folder, 'data'), memory: false }, async (server) => {
      await send(server, 'x');
      expect(readdirSync(join(folder, 'data'))).toContain('tasks.db');
    }),
  memory: () => served({ data: join(folder, 'never'), memory: true }, async () => expect(readdirSync(folder)).not.toContain('never')),
  allowedHosts: () =>
    served({ allowedHosts: ['lab.internal'] }, async ({ port }) => {
      const status = async (host: string): Promise<number> =>
        (await raw(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status;
      expect([await status('lab.internal'), await status('other.internal')]).toEqual([200, 403]);
    }),
  allowedOrigins: () =>
    served({ allowedOrigins: ['https://app.example'] }, async ({ url }) => {
      const from = (origin: string): Promise<Response> => fetch(`${url}/healthz`, { headers: { Origin: origin } });
      const allowed = await from('https://app.example');
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
      expect((await from('https://evil.example')).status).toBe(403);
    }),
  card: () => served({ card: 'strict' }, async (server) => expect(Object.keys(await cardOf(server))).not.toContain('url')),
  publisher: () =>
    served({ publisher: 'pub.example' }, async ({ url }) =>
      expect(await (await fetch(`${url}/.well-known/ard.json`)).text()).toContain('urn:air:pub.example:'),
    ),
  idempotency: () =>
    served({ idempotency: 'messageId' }, async ({ url }) => {
      const body = sendBody('x');
      const ids = await Promise.all([1, 2].map(async () => ((await (await post(`${url}/message:send`, body)).json()) as Sent).task.id));
      const third = ((await (await post(`${url}/message:send`, body)).json()) as Sent).task.id;
      expect(new Set([...ids, third]).size).toBe(1);
    }),
  mesh: () =>
    onMesh({}, async (broker) => {
      const announced = Promise.withResolvers<string>();
      await broker.subscribe({
        filter: 'parley/a2a/v1/discovery/agentcards',
        take: ({ payload }) => announced.resolve(String(Buffer.from(payload))),
      });
      return () => announced.promise.then((card) => expect(card).toContain('solace:parley/a2a/v1/agent/request/'));
    }),
  namespace: () =>
    onMesh({ namespace: 'acme/lab' }, async (broker) => {
      const announced = Promise.withResolvers<void>();
      await broker.subscribe({ filter: 'acme/lab/a2a/v1/discovery/agentcards', take: () => announced.resolve() });
      return () => announced.promise;
    }),
  meshGrammar: () => announcedAt(MQTT, '$a2a/v1/discovery/acme/lab/echo'),
  meshRoot: () => announcedAt({ ...MQTT, meshRoot: 'own/v1' }, 'own/v1/discovery/acme/lab/echo'),
  meshInstance: () => announcedAt({ ...MQTT, meshInstance: '7' }, '$a2a/v1/discovery/acme/lab/echo-7'),
  meshPools: () =>
    onMesh({ ...MQTT, meshPools: ['workers'] }, async (broker) => {
      const answered = Promise.withResolvers<Incoming>();
      const responseTopic = '$a2a/v1/reply/acme/lab/me/abc';
      await broker.subscribe({ filter: responseTopic, take: answered.resolve });
      return async () => {
        const message = { messageId: 'm', taskId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }] };
        const payload = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 't', method: 'SendMessage', params: { message } }));
        await broker.publish({ topic: '$a2a/v1/request/acme/lab/pool/workers', payload, responseTopic, correlation: Buffer.from('c') });
        const { properties, payload: said } = await answered.promise;
        expect(properties).toMatchObject({ 'a2a-responder-agent-id': 'echo' });
        expect(String(Buffer.from(said))).toContain('TASK_STATE_COMPLETED');
      };
    }),
  meshScopes: () =>
    onMesh({ meshScopes: ['tasks:read'] }, async (broker) => {
      const answered = Promise.withResolvers<string>();
      await broker.subscribe({
        filter: 'parley/a2a/v1/client/response/c',
        take: ({ payload }) => answered.resolve(String(Buffer.from(payload))),
      });
      return async () => {
        const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] };
        const payload = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 't', method: 'message/send', params: { message } }));
        await broker.publish({ topic: 'parley/a2a/v1/agent/request/echo', payload, properties: { clientId: 'c' } });
        expect(await answered.promise).toContain('this needs the scope tasks:write');
      };
    }),
  artifacts: () =>
    onMesh({ artifacts: join(folder, 'artifacts') }, async (broker) => {
      const answered = Promise.withResolvers<string>();
      await broker.subscribe({
        filter: 'parley/a2a/v1/client/response/c',
        take: ({ payload }) => answered.resolve(String(Buffer.from(payload))),
      });
      return async () => {
        const file = { name: 'f.bin', mimeType: 'application/octet-stream', bytes: Buffer.alloc(150_000).toString('base64') };
        const message = { kind: 'message', messageId: 'm', contextId: 'c', role: 'user', parts: [{ kind: 'file', file }] };
        const payload = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 't', method: 'message/send', params: { message } }));
        await broker.publish({ topic: 'parley/a2a/v1/agent/request/echo', payload, properties: { clientId: 'c' } });
        expect(await answered.promise).toContain('artifact://');
      };
    }),
  versionRequired: () =>
    served({ versionRequired: true }, async ({ url }) => {
      expect((await post(`${url}/message:send`, sendBody('x'))).status).toBe(400);
      expect((await post(`${url}/message:send`, sendBody('x'), { 'A2A-Version': '1.0' })).status).toBe(200);
    }),
  log: async () => {
    const lines: string[] = [];
    await served({ log: 'debug' }, async ({ url }) => void (await fetch(`${url}/healthz`)), { lines });
    expect(lines.join('')).toContain('"path":"/healthz"');
  },

  'limits.bodyBytesMax': () =>
    served({ limits: { bodyBytesMax: 300 } }, async ({ url }) => {
      expect((await post(`${url}/message:send`, sendBody('x'.repeat(300)))).status).toBe(413);
      expect((await post(`${url}/message:send`, sendBody('x'))).status).toBe(200);
    }),
  'limits.jsonDepthMax': () =>
    served({ limits: { jsonDepthMax: 5 } }, async ({ url }) =>
      expect((await post(`${url}/message:send`, sendBody('x', { metadata: { a: { b: { c: { d: {} } } } } }))).status).toBe(400),
    ),
  'limits.jsonMembersMax': () =>
    served({ limits: { jsonMembersMax: 20 } }, async ({ url }) =>
      expect(
        (
          await post(
            `${url}/message:send`,
            sendBody('x', { metadata: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, 1])) }),
          )
        ).status,
      ).toBe(400),
    ),
  'limits.messagePartsMax': () =>
    served({ limits: { messagePartsMax: 1 } }, async ({ url }) =>
      expect(
        (await post(`${url}/message:send`, { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'a' }, { text: 'b' }] } }))
          .status,
      ).toBe(400),
    ),
  'limits.idCharsMax': () =>
    served({ limits: { idCharsMax: 5 } }, async ({ url }) =>
      expect(
        (await post(`${url}/message:send`, { message: { messageId: '123456', role: 'ROLE_USER', parts: [{ text: 'a' }] } })).status,
      ).toBe(400),
    ),
  'limits.headersMax': () =>
    served({ limits: { headersMax: 3 } }, async ({ port }) => {
      const head = (more: string): string => `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}\r\n`;
      expect([(await raw(port, head('A: b\r\n'))).status, (await raw(port, head('A: b\r\nC: d\r\n'))).status]).toEqual([200, 431]);
    }),
  'limits.headerMsMax': () =>
    served({ limits: { headerMsMax: 300 } }, async ({ port }) => {
      const { status, ms } = await raw(port, 'GET /healthz HTTP/1.1\r\n');
      expect([status, ms < 2000]).toEqual([408, true]);
    }),
  'limits.requestMsMax': () =>
    served({ limits: { requestMsMax: 300 } }, async ({ port }) => {
      const { status, ms } = await raw(
        port,
        'POST /a2a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n',
      );
      expect([status, ms < 2000]).toEqual([408, true]);
    }),
  'limits.streamIdleMsMax': () =>
    served({ limits: { streamIdleMsMax: 300 } }, async ({ port, url }) => {
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('chunks=8000 size=4000') });
      stream.socket.pause();
      await eventually(async () => (await metric(url, 'parley_streams_cut_total')) === 1, 10_000);
      stream.break();
    }),
  'limits.keepAliveMs': () =>
    served({ limits: { keepAliveMs: 60 } }, async ({ port }) => {
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=1000') });
      await eventually(() => stream.text().includes(': keep-alive'), 2000);
      stream.break();
    }),
  'limits.reconnectMs': () =>
    served({ limits: { reconnectMs: 77 } }, async ({ url }) =>
      expect(await (await post(`${url}/message:stream`, sendBody('x'))).text()).toContain('retry: 77\n'),
    ),
  'limits.connectionsMax': () =>
    served({ limits: { connectionsMax: 2, streamsMax: 2 } }, async ({ port, url }) => {
      const streams = await Promise.all([1, 2].map(() => rawStream(port, { path: '/message:stream', body: sendBody('sleep=5000') })));
      await eventually(() => streams.every((stream) => stream.text() !== ''));
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
      for (const stream of streams) stream.break();
    }),
  'limits.streamsMax': () =>
    served({ limits: { streamsMax: 1 } }, async ({ port, url }) => {
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=5000') });
      await eventually(() => stream.text() !== '');
      expect((await post(`${url}/message:stream`, sendBody('x'))).status).toBe(503);
      stream.break();
    }),
  'limits.drainMsMax': async () => {
    let began = 0;
    await served({ limits: { drainMsMax: 2300 } }, async (server) => {
      await start(server, 'sleep=60000');
      began = performance.now();
    });
    expect(performance.now() - began).toBeLessThan(3000);
  },
  'limits.cardAgeMsMax': () =>
    served({ limits: { cardAgeMsMax: 7000 } }, async ({ url }) =>
      expect((await fetch(`${url}/.well-known/agent-card.json`)).headers.get('cache-control')).toBe('public, max-age=7'),
    ),

  'limits.taskEventsMax': () =>
    served({ limits: { taskEventsMax: 10 } }, async (server) =>
      expect((await send(server, 'chunks=50')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.taskBytesMax': () =>
    served({ limits: { taskBytesMax: 5000 } }, async (server) =>
      expect((await send(server, 'chunks=50 size=1000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.artifactBytesMax': () =>
    served({ limits: { artifactBytesMax: 5000 } }, async (server) =>
      expect((await send(server, 'chunks=50 size=1000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.spillBytes': () =>
    served({ limits: { spillBytes: 100 }, data: join(folder, 'spill'), memory: false, agents: ['echo'] }, async (server) => {
      await send(server, 'x'.repeat(200));
      expect(readdirSync(join(folder, 'spill', 'blobs'), { recursive: true }).length).toBeGreaterThan(0);
    }),
  'limits.runningTasksMax': () =>
    served({ limits: { runningTasksMax: 1 } }, async (server) => {
      const first = await start(server, 'sleep=1500');
      const second = await start(server, 'chunks=1');
      expect([first.status.state, second.status.state]).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED']);
    }),
  'limits.queuedTasksMax': () =>
    served({ limits: { runningTasksMax: 1, queuedTasksMax: 1 } }, async (server) => {
      await start(server, 'sleep=1500');
      await start(server, 'chunks=1');
      expect((await post(`${server.url}/message:send`, sendBody('x'))).status).toBe(503);
    }),
  'limits.queuedMessagesMax': () =>
    served({ limits: { queuedMessagesMax: 1 } }, async (server) => {
      const { id } = await start(server, 'sleep=1500');
      const more = async (): Promise<number> =>
        (
          await post(`${server.url}/message:send`, {
            message: { ...(sendBody('x')['message'] as object), taskId: id },
            configuration: { returnImmediately: true },
          })
        ).status;
      expect([await more(), await more()]).toEqual([200, 503]);
    }),
  'limits.pushConfigsMax': () =>
    served({ limits: { pushConfigsMax: 1 } }, async (server) => {
      const { id } = await start(server, 'sleep=1500');
      const more = async (): Promise<boolean> =>
        (await post(`${server.url}/tasks/${id}/pushNotificationConfigs`, { url: 'https://hook.example/x' })).ok;
      expect([await more(), await more()]).toEqual([true, false]);
    }),
  'limits.ownerPushConfigsMax': () =>
    served({ limits: { ownerPushConfigsMax: 1 } }, async (server) => {
      const more = async (): Promise<boolean> => {
        const { id } = await start(server, 'sleep=1500');
        return (await post(`${server.url}/tasks/${id}/pushNotificationConfigs`, { url: 'https://hook.example/x' })).ok;
      };
      expect([await more(), await more()]).toEqual([true, false]);
    }),
  'limits.deliveriesMax': () => atOnce({ deliveriesMax: 1 }, 1),
  'limits.hostDeliveriesMax': () => atOnce({ hostDeliveriesMax: 2 }, 2),
  'limits.webhookMsMax': () =>
    withHook(
      () => undefined,
      (hook) =>
        served({ allowLoopbackTargets: true, limits: { webhookMsMax: 100 } }, async (server) => {
          await send(server, 'x', { taskPushNotificationConfig: { url: hook.url } });
          await eventually(async () => (await metric(server.url, 'parley_webhook_attempts_total')) === 1, 3000);
        }),
    ),
  'limits.webhookDisableMs': () =>
    withHook(
      (_, response) => void response.writeHead(500).end(),
      (hook) =>
        served({ allowLoopbackTargets: true, limits: { webhookDisableMs: 0 } }, async (server) => {
          await send(server, 'x', { taskPushNotificationConfig: { url: hook.url } });
          await eventually(async () => (await metric(server.url, 'parley_webhook_letters_total')) === 1, 3000);
        }),
    ),
  allowedTargets: () => hears({ allowedTargets: ['127.0.0.0/8'] }),
  allowLoopbackTargets: () => hears({ allowLoopbackTargets: true }),
  'limits.openContextsMax': () =>
    served(
      { limits: { openContextsMax: 2 } },
      async (server) => {
        for (let at = 0; at < 5; at += 1) await send(server, 'x');
        expect(await metric(server.url, 'parley_contexts_open')).toBe(2);
      },
      { agent: talker },
    ),
  'limits.openContextMsMax': () =>
    served(
      { limits: { openContextMsMax: 100, sweepMs: 50, tickMs: 20 } },
      async (server) => {
        await send(server, 'x');
        expect(await metric(server.url, 'parley_contexts_open')).toBe(1);
        await eventually(async () => (await metric(server.url, 'parley_contexts_open')) === 0);
      },
      { agent: talker },
    ),
  'limits.runMsMax': () =>
    served({ limits: { runMsMax: 200, tickMs: 50 } }, async (server) =>
      expect((await send(server, 'sleep=4000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.runIdleMsMax': () =>
    served({ limits: { runIdleMsMax: 200, tickMs: 50 } }, async (server) =>
      expect((await send(server, 'sleep=4000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.runAskMsMax': () =>
    served(
      { limits: { runAskMsMax: 200, tickMs: 50 } },
      async (server) => {
        await send(server, 'ask');
        await eventually(async () => (await metric(server.url, 'parley_tasks_asking')) === 0, 3000);
      },
      { agent: talker },
    ),
  'limits.runGraceMs': () =>
    served(
      { limits: { runningTasksMax: 1, runGraceMs: 100, tickMs: 50 } },
      async (server) => {
        const { id } = await start(server, 'work');
        await post(`${server.url}/tasks/${id}:cancel`, {});
        const began = performance.now();
        await send(server, 'x');
        expect(performance.now() - began).toBeLessThan(2500);
      },
      { agent: deaf },
    ),
  'limits.firstOutputMs': () =>
    served({ limits: { firstOutputMs: 1200 } }, async ({ port }) => {
      const began = performance.now();
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=3000') });
      await eventually(() => blocksOf(stream.text()).length > 0);
      expect(performance.now() - began).toBeGreaterThan(1000);
      stream.break();
    }),
  'limits.pollMsMax': () =>
    served({ limits: { pollMsMax: 300 } }, async (server) => {
      const { id } = await start(server, 'sleep=3000');
      const began = performance.now();
      await (
        await post(`${server.url}/a2a?dialect=v10.generation`, {
          jsonrpc: '2.0',
          id: 1,
          method: 'GetTask',
          params: { id, currentGeneration: '1' },
        })
      ).text();
      expect(performance.now() - began).toBeGreaterThan(250);
      expect(performance.now() - began).toBeLessThan(2000);
    }),
  'limits.finishedMsMax': () => served({ limits: { finishedMsMax: 100, sweepMs: 50, tickMs: 20 } }, gone),
  'limits.finishedTasksMax': () =>
    served({ limits: { finishedTasksMax: 2, sweepMs: 50, tickMs: 20 } }, async (server) => {
      for (let at = 0; at < 5; at += 1) await send(server, 'x');
      await eventually(async () => ((await (await fetch(`${server.url}/tasks`)).json()) as { totalSize: number }).totalSize === 2);
    }),
  'limits.waitingMsMax': () =>
    served({ limits: { waitingMsMax: 100, sweepMs: 50, tickMs: 20 } }, async (server) => {
      const { id } = await send(server, 'ask');
      await eventually(async () => (await stateOf(server, id)) === 'TASK_STATE_FAILED');
    }),
  'limits.sweepMs': () => served({ limits: { finishedMsMax: 1, sweepMs: 50, tickMs: 20 } }, gone),
  'limits.tickMs': () =>
    served({ limits: { runMsMax: 100, tickMs: 20 } }, async (server) => {
      const began = performance.now();
      await send(server, 'sleep=4000');
      expect(performance.now() - began).toBeLessThan(900); // by default they are looked at once a second
    }),

  'a2a.enabled': async () => expect(resolved({ a2a: { enabled: false } }).enabled).toBe(false), // test/cli/serve.test.ts: it refuses
  'a2a.server.port': async () => {
    let taken = 0;
    await served({}, async ({ port }) => {
      taken = port;
    });
    const { port: _, ...rest } = { port: 0, a2a: { server: { port: taken } } };
    const settings = resolved({ ...rest, memory: true, agents: ['echo'], log: 'silent' });
    const server = await serveConfigured([{ agent: builtIn('echo'), source: 'echo' }], settings, { log: logFor(settings) });
    expect(server.port).toBe(taken);
    await server.close();
  },
  'a2a.server.bindAddress': () =>
    served({ a2a: { server: { bindAddress: '127.0.0.3' } } }, async ({ url }) => expect(url).toContain('127.0.0.3')),
  'a2a.server.allowedOrigins': () =>
    served({ a2a: { server: { allowedOrigins: ['https://app.example'] } } }, async ({ url }) =>
      expect((await fetch(`${url}/healthz`, { headers: { Origin: 'https://app.example' } })).status).toBe(200),
    ),
  'a2a.remoteAgents': async () => {
    const partner = await startServer({ agents: [builtIn('echo')] });
    const a2a = { remoteAgents: { 'partner-bot': { endpoint: partner.url, authToken: 'partner-token-9' } } };
    await served({ agents: ['partner-bot'], a2a }, async ({ url }) => {
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { readonly name: string };
      expect(card.name).toBe('partner-bot');
    }).finally(() => partner.close());
    const lines: string[] = [];
    await served({ a2a, log: 'debug' }, async ({ url }) => void (await fetch(`${url}/partner-token-9`)), { lines });
    expect(lines.join('')).toContain('/[removed]');
  },
  'a2a.MAX_TASKS': () =>
    served({ a2a: { MAX_TASKS: 1 } }, async (server) => {
      await start(server, 'sleep=1500');
      expect((await start(server, 'chunks=1')).status.state).toBe('TASK_STATE_SUBMITTED');
    }),
  'a2a.MAX_CONTEXTS': () =>
    served(
      { a2a: { MAX_CONTEXTS: 1 } },
      async (server) => {
        for (let at = 0; at < 3; at += 1) await send(server, 'x');
        expect(await metric(server.url, 'parley_contexts_open')).toBe(1);
      },
      { agent: talker },
    ),
  'a2a.TASK_TTL_MS': () => served({ a2a: { TASK_TTL_MS: 100 }, limits: { sweepMs: 50, tickMs: 20 } }, gone),
  'a2a.IDLE_CLEANUP_INTERVAL_MS': () => served({ a2a: { IDLE_CLEANUP_INTERVAL_MS: 50 }, limits: { finishedMsMax: 1, tickMs: 20 } }, gone),
};

async function gone(server: Served): Promise<void> {
  const { id } = await send(server, 'x');
  await eventually(async () => (await fetch(`${server.url}/tasks/${id}`)).status === 404);
}

async function withHook(reply: Parameters<typeof startReceiver>[0], use: (hook: Receiver) => Promise<void>): Promise<void> {
  const hook = await startReceiver(reply);
  try {
    await use(hook);
  } finally {
    await hook.close();
  }
}

/** The webhook of a task hears of it, as it would not without the setting. */
async function hears(config: ParleyConfig): Promise<void> {
  await withHook(undefined, async (hook) => {
    const configuration = { taskPushNotificationConfig: { url: hook.url } };
    await served({}, async ({ url }) => expect((await post(`${url}/message:send`, sendBody('x', { configuration }))).status).toBe(400));
    await served(config, async (server) => {
      await send(server, 'x', configuration);
      await eventually(() => hook.hits.length > 0);
    });
  });
}

/** Of many tasks that finish together, so many webhooks are told at once. */
async function atOnce(limits: NonNullable<ParleyConfig['limits']>, most: number): Promise<void> {
  const slowly = (_: unknown, response: { end(): unknown }): void => void setTimeout(() => response.end(), 50);
  await withHook(slowly, (hook) =>
    served({ allowLoopbackTargets: true, limits }, async (server) => {
      for (let at = 0; at < 6; at += 1) await send(server, 'x', { taskPushNotificationConfig: { url: hook.url } });
      await eventually(() => hook.hits.length >= 12, 10_000);
      expect(hook.most()).toBe(most);
    }),
  );
}

/** Who may come in: auth-keys.test.ts looks at each. */
const AUTH_KEYS = Object.keys(AUTH_CHECKS);

/** What shows only after a crash, or in memory and speed: engine-limits.test.ts sees that they arrive. */
const INSIDE = ['attemptsMax', 'retryMs', 'windowEvents', 'windowBytes', 'tailEvents', 'tailBytes'].map((name) => `limits.${name}`);

describe('a key that is ignored is noticed', () => {
  it('for every key there is', () => {
    expect([...Object.keys(CHECKS), ...AUTH_KEYS, ...INSIDE].sort()).toEqual(KEYS.map(({ name }) => name).sort());
  });
  for (const [name, check] of Object.entries(CHECKS)) it(name, check);
});

/** Most of these wait in vain for something, which takes minutes: so they are part of the full size. */
if (isFull) {
  describe('a check that would not notice is noticed', () => {
    for (const [name, check] of Object.entries(CHECKS)) {
      it(name, async () => {
        ignored = name;
        try {
          await expect(check()).rejects.toThrow();
        } finally {
          ignored = undefined;
        }
      });
    }
  });
}
