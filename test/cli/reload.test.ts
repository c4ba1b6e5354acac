import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { sendBody } from '../support/server.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}
const logged = (node: Parley, message: string): readonly Line[] =>
  node
    .errors()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.message.startsWith(message));

/** The thumbprint of the certificate that a new connection gets. */
const thumbprint = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });

/** Asks over the one connection of the agent. */
const status = (agent: Agent, port: number, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1', path, rejectUnauthorized: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    }).once('error', reject);
  });

suiteNeeding('openssl', hasOpenssl, 'SIGHUP', () => {
  it('reloads settings and the certificate, keeps connections, and keeps the old ones if the new ones are wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-reload-'));
    const file = (name: string): string => join(folder, name);
    const authority = createAuthority(folder, 'ca');
    const certificates = ['one', 'two'].map((name) => authority.issue(name, 'IP:127.0.0.1'));
    const use = (at: number): void => {
      copyFileSync(certificates[at]?.cert ?? '', file('node.pem'));
      copyFileSync(certificates[at]?.key ?? '', file('node.key'));
    };
    const configure = (more: object): void =>
      writeFileSync(
        file('parley.config.json'),
        JSON.stringify({ memory: true, tls: { cert: file('node.pem'), key: file('node.key') }, ...more }),
      );
    use(0);
    configure({ log: 'info' });
    const node = await parleyServe({ args: ['echo'], cwd: folder });
    const before = await thumbprint(node.port);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let sockets = 0;
    agent.on('free', () => undefined);
    const created = agent.createConnection.bind(agent);
    agent.createConnection = (options, done): TLSSocket => {
      sockets += 1;
      return created(options, done) as TLSSocket;
    };
    expect(await status(agent, node.port, '/healthz')).toBe(200);

    use(1);
    configure({ log: 'debug', publisher: 'example.org' });
    node.process.kill('SIGHUP');
    await eventually(() => logged(node, 'the configuration was reloaded').length === 1);
    expect(logged(node, 'the configuration was reloaded')[0]).toMatchObject({ level: 'info', applied: ['log'], certificate: 'changed' });
    await eventually(() => logged(node, 'these settings have changed').length === 1);
    expect(logged(node, 'these settings have changed')[0]).toMatchObject({ level: 'warn', settings: ['publisher'] });
    expect(await thumbprint(node.port)).not.toBe(before);
    expect(await status(agent, node.port, '/healthz')).toBe(200);
    expect(sockets).toBe(1);
    await eventually(() => logged(node, 'request').length > 0);

    for (const wrong of ['{', JSON.stringify({ memory: true, logg: 'info' })]) {
      writeFileSync(file('parley.config.json'), wrong);
      const failures = logged(node, 'the configuration could not be reloaded').length;
      node.process.kill('SIGHUP');
      await eventually(() => logged(node, 'the configuration could not be reloaded').length === failures + 1);
    }
    copyFileSync(certificates[0]?.key ?? '', file('node.key'));
    configure({ log: 'debug' });
    node.process.kill('SIGHUP');
    await eventually(() => logged(node, 'the configuration could not be reloaded').length === 3);
    expect(await status(agent, node.port, '/healthz')).toBe(200);
    expect(await thumbprint(node.port)).not.toBe(before);
    agent.destroy();
    expect(await node.stop()).toBe(0);
  });
});

it('SIGTERM first says draining at /readyz while requests are served, and then stops', async () => {
  const node = await parleyServe({ args: ['echo', '--memory'], env: { PARLEY_LAME_DUCK_MS: '5000' } });
  expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
  node.process.kill('SIGTERM');
  await eventually(async () => (await fetch(`${node.url}/readyz`)).status === 503);
  const ready = await fetch(`${node.url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining', message: expect.stringContaining('another one') }]);
  const headers = { 'Content-Type': 'application/json' };
  const sent = await fetch(`${node.url}/message:send`, { method: 'POST', headers, body: JSON.stringify(sendBody('still there')) });
  expect([sent.status, await sent.text()]).toEqual([200, expect.stringContaining('still there')]);
  expect((await node.ended).code).toBe(0);
  expect(logged(node, 'the node drains').map(({ level }) => level)).toEqual(['info', 'info']);
});

it('SIGHUP reloads a gateway of the mesh, and its calls are logged when the level becomes debug', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-reload-'));
  const configure = (more: object): void => writeFileSync(join(folder, 'parley.config.json'), JSON.stringify({ memory: true, ...more }));
  configure({ log: 'info' });
  const node = await parleyServe({ command: ['mesh', 'gateway'], args: ['--broker', 'memory'], cwd: folder });
  const headers = { 'Content-Type': 'application/json' };
  const send = (): Promise<Response> =>
    fetch(`${node.url}/message:send`, { method: 'POST', headers, body: JSON.stringify(sendBody('who is there?')) });
  expect((await send()).status).toBe(200);
  expect(logged(node, 'call')).toEqual([]);
  configure({ log: 'debug', publisher: 'example.org' });
  node.process.kill('SIGHUP');
  await eventually(() => logged(node, 'the configuration was reloaded').length === 1);
  expect(logged(node, 'the configuration was reloaded')[0]).toMatchObject({ applied: ['log'] });
  await eventually(() => logged(node, 'these settings have changed').length === 1);
  expect(logged(node, 'these settings have changed')[0]).toMatchObject({ settings: ['publisher'] });
  expect((await send()).status).toBe(200);
  await eventually(() => logged(node, 'call').length === 1);
  expect(logged(node, 'call')[0]).toMatchObject({ agent: 'gateway', operation: 'send', outcome: 'ok' });
  expect(await node.stop()).toBe(0);
});
