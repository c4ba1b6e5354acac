import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import type { AuditRecord } from '#protocol';
import { taskId, tenantId } from '#protocol';
import { CALLER_SCOPES } from '#server';
import { openAudit } from '../../src/server/adapters/audit-file.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import type { Outcome } from '../support/binding-callers.ts';
import { BINDING_CALLERS } from '../support/binding-callers.ts';
import { eventually } from '../support/eventually.ts';
import { grpcClient } from '../support/grpc.ts';
import { keysOf } from '../support/key-ring.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer } from '../support/server.ts';
import { textOf } from '../support/talk.ts';

/** The same access checks over every binding: who is refused, and what is counted, recorded and passed on. */
const PEOPLE = [
  { name: 'ann', tenant: 'acme' },
  { name: 'ann', tenant: 'globex' },
  { name: 'reader', scopes: ['tasks:read'] },
  { name: 'gone', revokedAt: '2026-01-02T00:00:00Z' },
];
const keys = keysOf([
  ...PEOPLE,
  ...BINDING_CALLERS.map((_, at) => ({ name: `caller-${PEOPLE.length + at}`, scopes: [...CALLER_SCOPES, 'admin'] })),
]);
const SECRET = 'the launch code is 0000';
const agent = defineAgent({
  name: 'keeper',
  description: 'keeps secrets',
  run: ({ text, trace }) => (text === 'trace' ? (trace?.traceparent ?? 'none') : text),
});
const folder = scratchFolder();
let server: NodeServer;
let owned = '';

beforeAll(async () => {
  server = await startServer({ agents: agent, auth: [keys.auth], limits: { requestsPerSecondMax: 0 } });
  const [first] = BINDING_CALLERS;
  owned = (await first?.call(server.port, { operation: 'send', headers: bearer(0), text: SECRET }))?.task?.id ?? '';
});

afterAll(() => server.close());

const bearer = (who: number): Record<string, string> => ({ Authorization: `Bearer ${keys.key(who)}` });

describe.each(BINDING_CALLERS)('$name', ({ name, dialect, call }) => {
  const own = PEOPLE.length + BINDING_CALLERS.findIndex((each) => each.name === name);

  it.each<readonly [string, () => Record<string, string>, Outcome, Outcome]>([
    ['no credential', () => ({}), 'unauthenticated', 'unauthenticated'],
    ['an unknown key', () => ({ Authorization: `Bearer ${keys.key(99)}` }), 'unauthenticated', 'unauthenticated'],
    ['a revoked key', () => bearer(3), 'unauthenticated', 'unauthenticated'],
    ['another scheme', () => ({ Authorization: 'Basic YTpi' }), 'unauthenticated', 'unauthenticated'],
    ['a key without the scope', () => bearer(2), 'forbidden', 'not-found'],
    ['a key of another tenant', () => bearer(1), 'ok', 'not-found'],
    ['the owner', () => bearer(0), 'ok', 'ok'],
    ['a page of another origin', () => ({ ...bearer(0), Origin: 'https://evil.example.org' }), 'forbidden', 'forbidden'],
  ])('%s', async (_name, headers, sends, gets) => {
    const send = await call(server.port, { operation: 'send', headers: headers() });
    const get = await call(server.port, { operation: 'get', headers: headers(), id: owned });
    expect([send.outcome, get.outcome]).toEqual([sends, gets]);
    if (gets === 'ok') expect(get.task === undefined ? '' : textOf(get.task)).toBe(SECRET);
  });

  it('another host, as after DNS rebinding', async () => {
    for (const host of ['evil.example.org', `evil.example.org:${server.port}`])
      expect(await call(server.port, { operation: 'get', headers: bearer(0), id: owned, host })).toEqual({ outcome: 'forbidden' });
    expect((await call(server.port, { operation: 'get', headers: bearer(0), id: owned, host: 'localhost' })).outcome).toBe('ok');
  });

  it('a message that is too large', async () => {
    const large = { operation: 'send' as const, headers: bearer(0), text: 'x'.repeat(1_100_000) };
    expect(await call(server.port, large)).toEqual({ outcome: 'exhausted' });
  });

  it('a caller beyond its rate', async () => {
    const limits = { requestsPerSecondMax: 0.001, requestsBurstMax: 2 };
    const limited = await startServer({ agents: agent, auth: [keys.auth], limits });
    const outcomes: Outcome[] = [];
    for (let at = 0; at < 3; at += 1) outcomes.push((await call(limited.port, { operation: 'send', headers: bearer(0) })).outcome);
    expect(outcomes).toEqual(['ok', 'ok', 'exhausted']);
    expect((await call(limited.port, { operation: 'send', headers: bearer(1) })).outcome).toBe('ok');
    await limited.close();
  });

  it('the audit log has what it changed, and each refusal', async () => {
    const file = join(folder, `audit-${own}.jsonl`);
    const node = await startServer({ agents: agent, auth: [keys.auth], audit: await openAudit(file) });
    const { task } = await call(node.port, { operation: 'send', headers: bearer(own), text: SECRET });
    await call(node.port, { operation: 'get', headers: { Authorization: `Bearer refused by ${name}` }, id: owned });
    await call(node.port, { operation: 'send', headers: bearer(2) });
    await node.close();
    const text = readFileSync(file, 'utf8');
    const records = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditRecord)
      .filter(({ action }) => !action.startsWith('server.') && action !== 'task.end');
    expect(records).toMatchObject([
      { principal: `key:caller-${own}`, action: 'send', object: task?.id, agent: 'keeper', decision: 'allowed' },
      { principal: '', action: expect.stringMatching(/^http\./), decision: 'denied', client: '127.0.0.1' },
      { principal: 'key:reader', decision: 'denied' },
    ]);
    expect(text).not.toMatch(/parley_key_|refused by|launch code/);
  });

  it('calls and refusals are counted', async () => {
    const counts = async (): Promise<readonly number[]> => {
      const text = await (await fetch(`${server.url}/metrics`, { headers: bearer(own) })).text();
      return [`parley_calls_total{agent="keeper",dialect="${dialect}",operation="send",outcome="ok"}`, 'parley_http_requests_total'].map(
        (start) =>
          text
            .split('\n')
            .filter((line) => line.startsWith(start))
            .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0),
      );
    };
    const before = await counts();
    await call(server.port, { operation: 'send', headers: bearer(own) });
    await call(server.port, { operation: 'send' });
    // Three requests: the two calls, and the first reading of the metrics.
    await eventually(async () => expect(await counts()).toEqual([(before[0] ?? 0) + 1, expect.any(Number)]));
    expect((await counts())[1]).toBeGreaterThanOrEqual((before[1] ?? 0) + 3);
  });

  it('the trace of the caller reaches the agent', async () => {
    const traceparent = `00-${crypto.randomUUID().replaceAll('-', '')}-b7ad6b7169203331-01`;
    const { task } = await call(server.port, { operation: 'send', headers: { ...bearer(own), traceparent }, text: 'trace' });
    expect(task === undefined ? '' : textOf(task)).toContain(traceparent.slice(3, 35));
  });
});

describe('gRPC', () => {
  it('a tenant of another caller is refused', async () => {
    const client = grpcClient(server.port);
    const metadata = { authorization: `Bearer ${keys.key(0)}` };
    expect(await client.refusal('get', { id: taskId(owned), tenant: tenantId('globex') }, { metadata })).toMatchObject({ code: 7 });
    expect(await client.refusal('get', { id: taskId(owned), tenant: tenantId('keeper/globex') }, { metadata })).toMatchObject({ code: 7 });
    expect(await client.call('get', { id: taskId(owned), tenant: tenantId('keeper/acme') }, { metadata })).toMatchObject({ id: owned });
    client.close();
  });
});
