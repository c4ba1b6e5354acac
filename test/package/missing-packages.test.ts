import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/engine/adapters/sqlite.ts';
import { launchServe, parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const COMMANDS = new URL('../../src/cli/commands.ts', import.meta.url).href;
const DRIVER = new URL('../../src/agents/acp/driver.ts', import.meta.url).href;
const OPTIONAL = [
  '@agentclientprotocol/sdk',
  '@bufbuild/protobuf',
  '@connectrpc/connect',
  '@connectrpc/connect-node',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  'ajv',
  'oauth4webapi',
  'yaml',
] as const;

/** Options for a Node in which these packages are not installed. Errors have the same text and code as Node's own. */
const without = (...names: readonly string[]): readonly string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    const names = ${JSON.stringify(names)};
    registerHooks({ resolve: (wanted, context, next) => {
      const name = names.find((each) => wanted === each || wanted.startsWith(each + '/'));
      if (name === undefined) return next(wanted, context);
      throw Object.assign(new Error("Cannot find package '" + name + "' imported from " + context.parentURL), { code: 'ERR_MODULE_NOT_FOUND' });
    } });`)}`,
];

/** Runs the command line without any optional package. */
function parleyWithout(args: readonly string[], input = '') {
  const run = spawnSync(process.execPath, ['--conditions=our-src', ...without(...OPTIONAL), MAIN, ...args], { input, encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

describe('peer packages, which people install themselves', () => {
  const data = scratchFolder();
  it.each([
    ['pg', ['--data', join(data, 'pg'), '--store', 'postgres://127.0.0.1:1/x'], 'a store on Postgres needs the package pg'],
    ['mqtt', ['--memory', '--mesh', 'mqtt://127.0.0.1:1'], 'MQTT needs the package mqtt, which is not installed'],
    ['@nats-io/transport-node', ['--memory', '--mesh', 'nats://127.0.0.1:1'], 'NATS needs the package @nats-io/transport-node'],
    ['aws4fetch', ['--memory', '--mesh', 'memory', '--artifacts', 's3://b'], 'S3 needs the package aws4fetch'],
  ])('an error names %s and how to install it', async (name, args, words) => {
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    const run = launchServe({ args: ['echo', ...args], node: without(name), env });
    expect([(await run.ended).code, run.errors()]).toEqual([1, expect.stringContaining(words)]);
    expect(run.errors()).toContain(`npm install ${name}`);
  });

  it('parley store copy says that pg is missing', async () => {
    const source = join(data, 'source');
    mkdirSync(source);
    await openSqliteStore(join(source, 'tasks.db')).close();
    const args = ['--conditions=our-src', ...without('pg'), MAIN, 'store', 'copy', `sqlite:${source}`, 'postgres://127.0.0.1:1/x'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('a store on Postgres needs the package pg: npm install pg')]);
  });
});

describe('after npm install --omit=optional', () => {
  const folder = scratchFolder();

  it('every other command loads', () => {
    const program = `
      import { COMMANDS } from ${JSON.stringify(COMMANDS)};
      for (const { name, load } of COMMANDS) await load().catch(() => console.log(name));`;
    const args = ['--conditions=our-src', ...without(...OPTIONAL), '--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([stdout.trim().split('\n'), stderr]).toEqual([['auth', 'mcp', 'acp'], '']);
  });

  it.each([
    [['auth', 'login', 'http://127.0.0.1:1'], 'oauth4webapi'],
    [['mcp', 'http://127.0.0.1:1'], '@modelcontextprotocol/client'],
    [['acp', 'http://127.0.0.1:1'], '@agentclientprotocol/sdk'],
    [['serve', 'mcp:some-server', '--memory', '--port', '0'], '@modelcontextprotocol/client'],
  ])('parley %s says what to install', (args, name) => {
    const { code, err } = parleyWithout(args);
    expect([code, err]).toEqual([
      1,
      `Error: this command needs the package ${name}, which is not installed\nCode: A2ACLI_ERR_INTERNAL\nHint: npm install ${name}\n`,
    ]);
  });

  it('parley mock needs yaml for a file of rules', () => {
    const rules = join(folder, 'rules.yaml');
    writeFileSync(rules, 'responses: []\n');
    expect(parleyWithout(['mock', rules, '--port', '0']).err).toContain('npm install yaml');
  });

  it('an agent of the Agent Client Protocol says what to install, and is not started', () => {
    const program = `
      import { acpDriver } from ${JSON.stringify(DRIVER)};
      const job = { start: () => { throw new Error('started') } };
      for await (const event of acpDriver({ argv: ['agent'] }).run(job)) console.log(JSON.stringify(event));`;
    const args = ['--conditions=our-src', ...without(...OPTIONAL), '--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ kind: 'error', message: expect.stringContaining('npm install @agentclientprotocol/sdk') });
  });

  it('a node serves no gRPC, logs what to install, and its card does not name it', async () => {
    const node = await parleyServe({ args: ['echo', '--memory', '--log', 'info'], node: without(...OPTIONAL) });
    const card = await (await fetch(`${node.url}/.well-known/agent-card.json`)).text();
    const call = await fetch(`${node.url}/lf.a2a.v1.A2AService/ListTasks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    await node.stop();
    expect([card.includes('"GRPC"'), call.status]).toEqual([false, 415]);
    expect(node.errors()).toContain('npm install @bufbuild/protobuf @connectrpc/connect @connectrpc/connect-node');
  });

  it('a client over gRPC says what to install, and uses the next interface of the card if there is one', async () => {
    const given = parleyWithout(['send', '-e', 'http://127.0.0.1:1', '--transport', 'grpc', 'hello']);
    expect([given.code, given.err]).toEqual([
      1,
      'Error: can’t call 127.0.0.1:1: gRPC needs the package @bufbuild/protobuf: npm install @bufbuild/protobuf (ERR_DRIVER_MISSING)\nCode: PARLEY_ERR_NOT_SUPPORTED\n',
    ]);
    const node = await parleyServe({ args: ['echo', '--memory'] });
    const card = (await (await fetch(`${node.url}/.well-known/agent-card.json`)).json()) as {
      supportedInterfaces: readonly { protocolBinding: string }[];
    };
    const grpcFirst = card.supportedInterfaces.toSorted(
      (left, right) => Number(right.protocolBinding === 'GRPC') - Number(left.protocolBinding === 'GRPC'),
    );
    const file = join(folder, 'card.json');
    writeFileSync(file, JSON.stringify({ ...card, supportedInterfaces: grpcFirst }));
    const sent = parleyWithout(['ask', file, 'hello']);
    const examined = parleyWithout(['doctor', node.url]);
    await node.stop();
    expect([examined.code, examined.out]).toEqual([
      0,
      expect.stringMatching(/warning: GRPC 1\.0 at [^:]+:\d+: not examined[^\n]+\n +because: gRPC needs the package @bufbuild\/protobuf/i),
    ]);
    expect([grpcFirst[0]?.protocolBinding, sent.err, sent.out]).toEqual(['GRPC', '', expect.stringContaining('hello')]);
  });

  it('a node answers requests, and /mcp says what to install', async () => {
    const node = await parleyServe({ args: ['echo', '--memory'], node: without(...OPTIONAL) });
    const card = await fetch(`${node.url}/.well-known/agent-card.json`);
    const mcp = await fetch(`${node.url}/mcp`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
    const text = await mcp.text();
    await node.stop();
    expect([card.status, mcp.status]).toEqual([200, 501]);
    expect(text).toContain('npm install @modelcontextprotocol/');
  });
});

it('names every optional dependency of the package', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  expect(Object.keys(manifest.optionalDependencies)).toEqual([...OPTIONAL]);
});
