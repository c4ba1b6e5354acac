import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parley, run } from '../cli/run.ts';
import { createCanaries, filesBelow, treeOf } from '../support/canaries.ts';
import { eventually } from '../support/eventually.ts';
import type { OidcProvider } from '../support/jwt-issuer.ts';
import { startOidc } from '../support/jwt-issuer.ts';
import type { Listening } from '../support/listen.ts';
import { listenRaw } from '../support/listen.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { scratchFolder } from '../support/scratch.ts';

/**
 * docs/faults.md, S8: a different secret at every place that takes one, on the real `parley serve` at log level debug. Then the test searches
 * for each of them in everything that the node has written, sent and started.
 */
const folder = scratchFolder();
const [cwd, data, auth] = [join(folder, 'work'), join(folder, 'data'), join(folder, 'auth')];
const MCP_SERVER = fileURLToPath(new URL('../bridges/children/mcp-server.ts', import.meta.url));
const AUDIENCE = 'https://node.example';
const canaries = createCanaries();
/** Texts that are not secret, to prove that the search finds what is there. */
const planted = createCanaries();

let node: Parley;
let hook: Receiver;
let issuer: OidcProvider;
let far: Listening;
const farHeard: string[] = [];
let jwt = '';
let key = '';
/** All responses, with their headers. */
const answered: string[] = [];

function farCard(url: string): object {
  const skills = [{ id: 's', name: 's', description: 's', tags: [] }];
  return {
    ...{
      name: 'far',
      description: 'Elsewhere.',
      version: '1',
      capabilities: {},
      skills,
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
    },
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: {} } }],
  };
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly method?: string;
}

const owner = (): Record<string, string> => ({ Authorization: `Bearer ${canaries.at('node-token')}` });

async function ask(path: string, { headers = owner(), body, method = body === undefined ? 'GET' : 'POST' }: Asking = {}): Promise<string> {
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(`${node.url}${path}`, {
    method,
    headers: { ...type, ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  answered.push(`${path.split('?')[0]} ${response.status} ${JSON.stringify([...response.headers])} ${text}`);
  return text;
}

let sent = 0;
const message = (text: string): object => {
  sent += 1;
  return { messageId: `m-${sent}`, role: 'ROLE_USER', parts: [{ text }] };
};
const webhook = (place: string): object => ({
  url: `${hook.url}/hook?key=${canaries.at(`${place}-url`)}`,
  token: canaries.at(`${place}-token`),
  authentication: { scheme: 'Bearer', credentials: canaries.at(`${place}-credentials`) },
});

suiteNeeding('Linux', process.platform === 'linux', 'S8: secrets', () => {
  beforeAll(async () => {
    for (const each of [cwd, data, auth]) mkdirSync(each, { recursive: true });
    issuer = await startOidc(AUDIENCE);
    jwt = await issuer.token('planner');
    canaries.know('jwt', jwt.split('.')[2] ?? '');
    // A receiver and a remote agent that repeat everything they received.
    hook = await startReceiver(
      (hit, response) =>
        void response.writeHead(401, { 'X-Why': String(hit.headers['authorization']) }).end(String(hit.headers['authorization'])),
    );
    far = await listenRaw(async (incoming, outgoing) => {
      farHeard.push(String(incoming.headers.authorization));
      const isCard = incoming.url?.includes('agent-card') === true;
      outgoing.writeHead(isCard ? 200 : 403, { 'Content-Type': 'application/json' });
      outgoing.end(JSON.stringify(isCard ? farCard(far.url) : { error: { code: 403, message: `no: ${incoming.headers.authorization}` } }));
    });
    const made = parley(['keys', 'create', 'ci', '--auth-folder', auth, '--scope', 'tasks:*,push:write,executor:*,admin', '--json']);
    key = (JSON.parse(made.out) as { key: string }).key;
    canaries.know('api-key', key);
    parley(['keys', 'create', 'old', '--auth-folder', auth, '--stdin'], canaries.at('key-taken-in'));
    const remoteAgents = {
      far: { endpoint: `${far.url}/a2a`, agentCardUrl: `${far.url}/.well-known/agent-card.json`, authToken: canaries.at('remote-agent') },
    };
    writeFileSync(join(cwd, 'parley.config.json'), JSON.stringify({ a2a: { remoteAgents } }), { mode: 0o600 });
    writeFileSync(join(cwd, 'tool.sh'), 'env\nsleep 1\n', { mode: 0o700 });
    node = await parleyServe({
      args: [
        ...['script', 'generic', 'far', `mcp:"${process.execPath}" --conditions=our-src ${MCP_SERVER}`],
        ...['--data', data, '--auth-folder', auth, '--log', 'debug', '--allow-loopback-targets', '--require-auth'],
        ...['--jwt-issuer', issuer.url, '--jwt-audience', AUDIENCE],
      ],
      cwd,
      env: {
        PARLEY_TOKEN: canaries.at('node-token'),
        AGENT_BINARY: '/bin/sh',
        AGENT_ARGS: join(cwd, 'tool.sh'),
        AWS_SECRET_ACCESS_KEY: canaries.at('environment-aws'),
        OPENAI_API_KEY: canaries.at('environment-openai'),
        DATABASE_URL: `postgres://u:${canaries.at('environment-database')}@db.example/x`,
        A2ACLI_BEARER: canaries.at('environment-bearer'),
      },
    });
  });
  afterAll(async () => {
    await node.kill();
    await Promise.all([hook.close(), issuer.close(), far.close()]);
  });

  it('are used everywhere', async () => {
    // Callers with valid credentials, each kind over each binding.
    for (const headers of [owner(), { Authorization: `Bearer ${key}` }, { 'X-API-Key': key }, { Authorization: `Bearer ${jwt}` }]) {
      await ask('/message:send', { headers, body: { message: message('chunks=1') } });
      await ask('/a2a', { headers, body: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} } });
    }
    await ask('/v1/chat/completions', {
      headers: { 'X-API-Key': canaries.at('key-taken-in') },
      body: { model: 'script', messages: [{ role: 'user', content: 'x' }] },
    });
    // Callers with invalid credentials, also in places where people put them by mistake.
    const bad = (place: string): string => canaries.at(`bad-${place}`);
    for (const path of ['/message:send', '/a2a', '/mcp', '/v1/chat/completions', '/api/parley/v1/tasks', '/tasks', '/nothing']) {
      await ask(path, { headers: { Authorization: `Bearer ${bad('bearer')}` } });
      await ask(path, { headers: { Authorization: bad('authorization') } });
      await ask(path, { headers: { Authorization: `Basic ${Buffer.from(`u:${bad('basic')}`).toString('base64')}` } });
      await ask(path, {
        headers: { 'X-API-Key': bad('api-key'), Cookie: `session=${bad('cookie')}`, 'Proxy-Authorization': bad('proxy') },
      });
      await ask(`${path}?access_token=${bad('query')}&key=${bad('query-key')}`, { headers: {} });
      await ask(path, { headers: { Authorization: `Bearer eyJhbGciOiJub25lIn0.${Buffer.from(bad('jwt')).toString('base64url')}.` } });
    }
    // Webhooks: in a message, registered separately, of other versions, and refused ones.
    const sentWith = (headers: Record<string, string>, taskPushNotificationConfig: object): Promise<string> =>
      ask('/message:send', {
        headers,
        body: { message: message('ask'), configuration: { returnImmediately: true, taskPushNotificationConfig } },
      });
    const { task } = JSON.parse(await sentWith(owner(), webhook('inline'))) as { task: { id: string } };
    await ask(`/tasks/${task.id}/pushNotificationConfigs`, { body: webhook('created') });
    await ask('/a2a', {
      body: {
        jsonrpc: '2.0',
        id: 2,
        method: 'tasks/pushNotificationConfig/set',
        params: {
          taskId: task.id,
          pushNotificationConfig: {
            ...webhook('v03'),
            authentication: { schemes: ['Bearer'], credentials: canaries.at('v03-credentials') },
          },
        },
      },
    });
    await sentWith(owner(), { ...webhook('refused'), url: 'http://169.254.169.254/latest' });
    await sentWith(owner(), { ...webhook('broken'), token: `${canaries.at('broken-token')}\r\nX: y` });
    await ask(`/tasks/${task.id}/pushNotificationConfigs`);
    await ask('/message:send', { body: { message: { ...message('red'), taskId: task.id } } });
    await eventually(() => hook.hits.length >= 3);
    expect(canaries.in(JSON.stringify(hook.hits))).toEqual(
      expect.arrayContaining(['inline-token', 'inline-credentials', 'v03-credentials']),
    );
    // Agents: one that shows its environment, a remote one that repeats what it received, one behind MCP.
    await Promise.all([
      ask('/agents/sh/message:send', { body: { message: message('x') } }),
      eventually(() => treeOf(node.pid).some(({ cmdline }) => cmdline.includes('tool.sh')), 20_000).then(() => processes()),
    ]);
    await ask('/agents/far/message:send', { body: { message: message('x') } });
    expect(canaries.in(farHeard.join())).toEqual(['remote-agent']);
    await ask('/agents/toolbox/message:send', { body: { message: message('shout x') } });
    // Texts that are not secret.
    await ask('/message:send', { body: { message: message(planted.at('message')) } });
    await ask(`/tasks/${planted.at('path')}`);
  });

  const shownProcesses: string[] = [];
  function processes(): void {
    const [server, ...children] = treeOf(node.pid);
    // The node's own environment is where the configuration put the secret.
    shownProcesses.push(server?.cmdline ?? '', ...children.map(({ cmdline, environ }) => `${cmdline} ${environ}`));
  }

  it('are in no response: bodies, headers, streams, cards, metrics, admin API', async () => {
    const paths = [
      '/.well-known/agent-card.json',
      '/agents/sh/.well-known/agent-card.json',
      '/agents/far/.well-known/agent-card.json',
      '/',
      '/healthz',
    ];
    const operators = [
      '/metrics',
      '/api/parley/v1/tasks?pageSize=100',
      '/api/parley/v1/push/deliveries',
      '/api/parley/v1/push/deliveries?state=dead',
      '/api/parley/v1/audit?limit=1000',
    ];
    for (const path of [
      ...paths,
      ...operators,
      '/.well-known/ai-catalog.json',
      '/extendedAgentCard',
      '/tasks?pageSize=100&includeArtifacts=true',
    ])
      await ask(path);
    const { tasks } = JSON.parse(await ask('/api/parley/v1/tasks?pageSize=100')) as { tasks: { id: string }[] };
    expect(tasks.length).toBeGreaterThan(5);
    for (const { id } of tasks) await ask(`/api/parley/v1/tasks/${id}/events`);
    await ask('/message:stream', { body: { message: message('chunks=2') } });
    // Only the owner of a webhook can read its URL.
    const isAddress = (place: string): boolean => place.endsWith('-url');
    expect([...new Set(answered.flatMap((text) => canaries.in(text)))].filter((place) => !isAddress(place))).toEqual([]);
    expect(planted.in(answered.join('\n'))).toContain('message');
  });

  it('are in no log', () => {
    expect(node.errors()).toMatch(/debug/i);
    expect(canaries.in(node.errors() + node.lines().join('\n'))).toEqual([]);
    expect(planted.in(node.errors())).toContain('path');
  });

  it('are in no process arguments and in no environment of a child process', () => {
    expect(shownProcesses.length).toBeGreaterThan(2);
    expect(shownProcesses.join()).toContain('tool.sh');
    expect(canaries.in(shownProcesses.join('\n'))).toEqual([]);
    expect(canaries.in(treeOf(node.pid)[0]?.environ ?? '')).toContain('node-token'); // the search finds it where it is
  });

  it('are in no file while the node runs and after its end: database, write-ahead log, blobs, audit log, sessions', async () => {
    const look = (): void => {
      const files = [...filesBelow(data), ...filesBelow(auth)];
      expect(files.some(([path]) => path.endsWith('audit.jsonl'))).toBe(true);
      expect(
        files.flatMap(([path, bytes]) =>
          canaries
            .in(bytes)
            .filter((place) => !place.endsWith('-url'))
            .map((place) => `${place} in ${path}`),
        ),
      ).toEqual([]);
      expect(files.flatMap(([, bytes]) => planted.in(bytes))).toContain('message');
      // The lock file contains only a process id, and the ballast file nothing.
      const shared = files.filter(([path]) => (statSync(path).mode & 0o077) !== 0 && !/\.(?:lock|ballast)/.test(path));
      expect(shared.map(([path]) => path)).toEqual([]);
    };
    expect(existsSync(data)).toBe(true);
    look();
    await node.stop();
    look();
  });

  it('are in no output of the command line', async () => {
    const env = { A2ACLI_BEARER: canaries.at('cli-bearer'), A2ACLI_BASIC: `u:${canaries.at('cli-basic')}`, PARLEY_AUTH_FOLDER: auth };
    for (const args of [
      ['ask', far.url, 'x', '--debug'],
      ['send', '-a', far.url, 'x', '--debug'],
      ['send', '-a', far.url, 'x', '--json'],
      ['doctor', far.url],
    ]) {
      const { out, err } = await run(args, { env });
      expect([args[0], canaries.in(out + err)]).toEqual([args[0], []]);
    }
  });
});
