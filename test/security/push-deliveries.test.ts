import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdminDelivery } from '#protocol';
import { parley } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import type { Parley, RunOptions } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { Hit, Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { scratchFolder } from '../support/scratch.ts';
import { metric } from '../support/server.ts';

/** The real `parley serve`, with webhook receivers that misbehave. */
const folder = scratchFolder();
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function node(options: RunOptions = {}): Promise<Parley> {
  const running = await parleyServe({ ...options, args: ['script', '--allow-loopback-targets', ...(options.args ?? ['--memory'])] });
  open.push({ close: () => running.stop() });
  return running;
}
async function receiver(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
  const hook = await startReceiver(...args);
  open.push(hook);
  return hook;
}

let sent = 0;
async function start({ url }: Parley, hook: string, more: object = {}, text = 'chunks=2'): Promise<string> {
  sent += 1;
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      message: { messageId: `m${sent}`, role: 'ROLE_USER', parts: [{ text }] },
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: hook, ...more } },
    }),
  });
  const { task } = (await response.json()) as { task: { id: string } };
  return task.id;
}
const deliveries = async ({ url }: Parley, query = ''): Promise<readonly AdminDelivery[]> =>
  ((await (await fetch(`${url}/api/parley/v1/push/deliveries${query}`)).json()) as { deliveries: AdminDelivery[] }).deliveries;
const seqs = (hits: readonly Hit[]): readonly number[] =>
  hits.map(({ headers }) => Number(String(headers['webhook-id']).split('_').at(-1)));

describe('a webhook receiver', () => {
  it('W1: that was down gets everything in order when it is up', async () => {
    const gone = await startReceiver();
    await gone.close();
    const server = await node();
    await start(server, gone.url);
    const refused = { state: 'open', pending: 3, first: 2, last: 4, problem: expect.stringContaining('ECONNREFUSED') };
    await eventually(async () => expect((await deliveries(server))[0]).toMatchObject(refused));
    const back = await receiver(undefined, gone.port);
    await eventually(() => back.hits.length === 3);
    expect(seqs(back.hits)).toEqual([2, 3, 4]);
  });

  it('W1: that resets a connection gets the delivery again', async () => {
    const server = await node();
    const hook = await receiver((_, response) => {
      if (hook.hits.length > 1) response.writeHead(200).end('thanks');
      else response.socket?.resetAndDestroy();
    });
    await start(server, hook.url);
    await eventually(() => hook.hits.length === 4);
    expect(seqs(hook.hits)).toEqual([2, 2, 3, 4]);
    expect(hook.hits[0]?.body).toBe(hook.hits[1]?.body);
    expect(await metric(server.url, 'parley_webhook_attempts_total{outcome="failed"}')).toBe(1);
  });

  it('W1: without TLS on an https URL counts as failed', async () => {
    const server = await node();
    const hook = await receiver();
    await start(server, hook.url.replace('http:', 'https:'));
    const failed = { state: 'open', pending: 3, problem: expect.any(String) };
    await eventually(async () => expect((await deliveries(server))[0]).toMatchObject(failed));
    expect(hook.hits).toEqual([]);
  });

  it('W2: that does not respond delays no other receiver', async () => {
    const server = await node({ args: ['--memory', '--limit', 'webhookMsMax=20000'] });
    const hook = await receiver();
    await start(server, hook.url);
    await eventually(() => hook.hits.length === 3);
    const tarpits = await Promise.all(Array.from({ length: 20 }, () => receiver(() => undefined)));
    for (const tarpit of tarpits) for (let at = 0; at < 5; at += 1) await start(server, tarpit.url);
    hook.hits.length = 0;
    await start(server, hook.url);
    // In one queue with the others it would have to wait for their timeouts of 20 seconds.
    await eventually(() => hook.hits.length === 3);
    await eventually(async () => (await metric(server.url, 'parley_webhooks_sending')) === 48);
    expect(Math.max(...tarpits.map((tarpit) => tarpit.most()))).toBeLessThanOrEqual(4);
  });

  it('W2: that does not respond fails after the timeout', async () => {
    const server = await node({ args: ['--memory', '--limit', 'webhookMsMax=300'] });
    const tarpit = await receiver(() => undefined);
    await start(server, tarpit.url);
    await eventually(async () => expect((await deliveries(server))[0]?.problem).toBe('the response did not arrive in time'));
  });

  const table: readonly (readonly [number, Readonly<Record<string, string>>, Partial<AdminDelivery>])[] = [
    [500, {}, { state: 'open', attempts: 1, problem: 'HTTP 500' }],
    [503, { 'Retry-After': '1200' }, { state: 'open', attempts: 1, problem: 'HTTP 503' }],
    [429, { 'Retry-After': new Date(Date.now() + 1_200_000).toUTCString() }, { state: 'open', attempts: 1, problem: 'HTTP 429' }],
    [404, {}, { state: 'open', attempts: 1, problem: 'HTTP 404' }],
    [410, {}, { state: 'dead', attempts: 1, problem: 'HTTP 410' }],
    [302, { Location: 'http://127.0.0.1:1/' }, { state: 'open', attempts: 1 }],
  ];
  it.each(table)('W3, W4: that responds with %i %j', async (status, headers, expected) => {
    const server = await node();
    const hook = await receiver((_, response) => void response.writeHead(status, headers).end());
    await start(server, hook.url);
    let found: AdminDelivery | undefined;
    let hits = 0;
    await eventually(async () => {
      [found, hits] = [(await deliveries(server))[0], hook.hits.length];
      return found?.attempts === 1;
    });
    expect(found).toMatchObject({ ...expected, first: 2 });
    expect(hits).toBe(1);
    if (status === 302) expect(found?.problem).toMatch(/redirect/);
    const waitMs = Date.parse(found?.dueAt ?? '') - Date.now();
    if (status === 503) expect(waitMs).toBeGreaterThan(1_000_000);
    if (status === 429) expect(waitMs).toBeGreaterThan(500_000);
    if (status === 500) expect(waitMs).toBeLessThan(6000);
  });

  it('W5: with an endless or compressed response counts as delivered', async () => {
    const server = await node();
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const hook = await receiver((hit, response) => {
      if (hit.path === '/bomb') response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
      else {
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          response.once('drain', more);
        };
        more();
      }
    });
    const before = await metric(server.url, 'process_resident_memory_bytes');
    for (const path of ['/endless', '/bomb']) await start(server, `${hook.url}${path}`);
    await eventually(() => hook.hits.length === 6);
    await eventually(async () => (await metric(server.url, 'parley_webhooks_pending')) === 0);
    expectFigure((await metric(server.url, 'process_resident_memory_bytes')) - before, { below: 100 * 1_048_576 });
  });
});

describe('W11: webhook secrets', () => {
  it('are in no response, log, file or process list, and reach the receiver after a restart', async () => {
    const data = join(folder, 'secrets');
    const secrets = { token: 'canary-token-1', authentication: { scheme: 'Bearer', credentials: 'canary-credentials-2' } };
    const first = await node({ args: ['--data', data, '--log', 'debug'] });
    const hook = await receiver((_, response) => void response.writeHead(500).end());
    await start(first, `${hook.url}/x`, secrets);
    await eventually(async () => (await deliveries(first))[0]?.attempts === 1);
    const shown = JSON.stringify(await deliveries(first)) + (await (await fetch(`${first.url}/metrics`)).text());
    expect(shown).not.toMatch(/canary/);
    expect(readFileSync(`/proc/${first.process.pid}/cmdline`, 'utf8')).not.toMatch(/canary/);
    await first.stop();
    for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      const bytes = readdirOr(join(data, name));
      expect(bytes.includes('canary'), name).toBe(false);
    }
    expect(first.errors()).not.toMatch(/canary/);
    hook.reply = (_, response) => void response.writeHead(204).end();
    hook.hits.length = 0;
    await node({ args: ['--data', data] });
    await eventually(() => hook.hits.length === 3);
    expect(hook.hits[0]?.headers).toMatchObject({
      authorization: 'Bearer canary-credentials-2',
      'x-a2a-notification-token': 'canary-token-1',
    });
  });
});

function readdirOr(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

describe('W12: parley push', () => {
  it('lists pending and failed deliveries, sends one again, and deletes one', async () => {
    const server = await node();
    const hook = await receiver((_, response) => void response.writeHead(410).end());
    const task = await start(server, `${hook.url}/gone`);
    await eventually(async () => (await deliveries(server, '?state=dead')).length === 1);
    const cli = (...args: string[]) => parley(['push', ...args, '--url', server.url]);
    const listed = await cli('dead', '--json');
    expect(listed.code).toBe(0);
    const [dead] = listed.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AdminDelivery);
    expect(dead).toMatchObject({
      state: 'dead',
      taskId: task,
      first: 2,
      last: 4,
      pending: 3,
      problem: 'HTTP 410',
      url: `${hook.url}/gone`,
    });
    expect((await cli('ls')).out).toMatch(/^ID +STATE +EVENTS +ATTEMPTS.*\n\d+ +dead +2-4 +1 /);
    hook.reply = (_, response) => void response.writeHead(204).end();
    hook.hits.length = 0;
    expect((await cli('replay', String(dead?.id), '--json')).out).toContain('"state":"open"');
    await eventually(() => hook.hits.length === 3);
    expect(seqs(hook.hits)).toEqual([2, 3, 4]);
    expect((await cli('dead')).out).toBe('There are no dead letters.\n');
    hook.reply = (_, response) => void response.writeHead(410).end();
    for (let at = 0; at < 2; at += 1) await start(server, `${hook.url}/again`);
    await eventually(async () => (await deliveries(server, '?state=dead')).length === 2);
    const [one] = await deliveries(server, '?state=dead');
    expect((await cli('drop', String(one?.id))).code).toBe(0);
    hook.reply = (_, response) => void response.writeHead(204).end();
    expect((await cli('replay', '--all')).code).toBe(0);
    await eventually(async () => (await deliveries(server, '?state=dead')).length === 0);
  });

  it('reports invalid arguments', async () => {
    const server = await node();
    const cli = (...args: string[]) => parley(['push', ...args]);
    const url = ['--url', server.url];
    expect(await cli()).toMatchObject({ code: 2, err: expect.stringContaining('commands: ls, dead, replay, drop, rotate') });
    expect(await cli('nonsense')).toMatchObject({ code: 2, err: expect.stringContaining('there is no command push nonsense') });
    expect(await cli('replay', ...url)).toMatchObject({ code: 2, err: expect.stringContaining('which dead letter?') });
    expect(await cli('replay', 'x', ...url)).toMatchObject({ code: 2, err: expect.stringContaining('x is not the number') });
    expect(await cli('replay', '7', ...url)).toMatchObject({ code: 1, err: expect.stringContaining('there is no delivery 7') });
    expect(await cli('ls', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 3,
      err: expect.stringContaining('is parley serve running'),
    });
    expect(await cli('ls', '--url', 'nowhere')).toMatchObject({ code: 2 });
    expect(await cli('rotate')).toMatchObject({ code: 2, err: expect.stringContaining('--data is missing') });
    expect(await cli('rotate', '--data', folder)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is this the data folder of a node?'),
    });
    for (const path of ['?state=x', '?after=x', '?limit=-1']) {
      expect((await fetch(`${server.url}/api/parley/v1/push/deliveries${path}`)).status).toBe(400);
    }
    expect((await fetch(`${server.url}/api/parley/v1/push/deliveries`, { method: 'DELETE' })).status).toBe(405);
    expect((await fetch(`${server.url}/api/parley/v1/push/deliveries/1`)).status).toBe(405);
  });
});
