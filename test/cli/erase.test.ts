import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminErased, AdminExportedTask, AdminStoreStats, AuditRecord, TaskState } from '#protocol';
import { filesWith } from '../support/find-in-files.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { jsonOf, linesOf, run } from './run.ts';

/** `parley erase` and `parley export` on a real node with real files. */
const folder = scratchFolder();
const env = { PARLEY_AUTH_FOLDER: join(folder, 'auth'), PARLEY_SPILL_BYTES: '1000' };
const data = join(folder, 'data');
const keys = new Map<string, string>();
let node: Parley;
let count = 0;

interface Sent {
  readonly task?: { readonly id: string; readonly status: { readonly state: TaskState } };
}

/** Sends as a caller, with the secret in the id of the message, the metadata and the text. */
async function send(who: string, text: string, { agent = 'echo', configuration = {} } = {}): Promise<Sent> {
  count += 1;
  const secret = secretOf(who);
  const message = {
    messageId: `${secret}-${count}`,
    role: 'ROLE_USER',
    parts: [{ text }],
    metadata: { note: secret },
    contextId: `c-${who}`,
  };
  const response = await fetch(`${node.url}/agents/${agent}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${keys.get(who)}` },
    body: JSON.stringify({ message, configuration }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Sent;
}

const secretOf = (who: string): string => `secret-of-${who}-7f3a9c`;
const serve = (): Promise<Parley> =>
  parleyServe({ args: ['echo', 'script', '--data', data, '--require-auth', '--allow-loopback-targets'], env });
const erase = (who: string, ...more: string[]) => run(['erase', '--principal', `key:${who}`, '--data', data, ...more], { env });
const exported = (who: string, ...more: string[]) => run(['export', '--principal', `key:${who}`, '--data', data, ...more], { env });
const states = async (who: string): Promise<readonly string[]> => {
  const response = await fetch(`${node.url}/tasks?historyLength=0`, { headers: { Authorization: `Bearer ${keys.get(who)}` } });
  return ((await response.json()) as { tasks: { status: { state: string } }[] }).tasks.map(({ status }) => status.state);
};

/** Something of each kind that a node stores. */
async function fill(who: string): Promise<void> {
  const secret = secretOf(who);
  for (let at = 0; at < 20; at += 1) await send(who, `${secret} ${at}`);
  await send(who, `${secret} `.repeat(400)); // stored as a file
  await send(who, 'message', { agent: 'script' }); // a direct answer
  const push = { taskPushNotificationConfig: { url: `http://127.0.0.1:9/${secret}` } };
  await send(who, 'chunks=2', { agent: 'script', configuration: push });
  await send(who, 'chunks=700', { agent: 'script' }); // a log that is deleted in portions
  await send(who, 'sleep=600000', { agent: 'script', configuration: { returnImmediately: true } });
}

beforeAll(async () => {
  for (const who of ['ann', 'bob', 'cleo']) {
    const { key } = jsonOf<{ key: string }>(await run(['keys', 'create', who, '--json'], { env }));
    keys.set(who, key);
  }
  node = await serve();
  for (const who of ['ann', 'bob', 'cleo']) await fill(who);
});
afterAll(() => node.stop());

describe('parley export', () => {
  it('prints every task of the caller with its content, and nobody else’s', async () => {
    const ran = await exported('ann');
    expect(ran).toMatchObject({ code: 0 });
    const document = jsonOf<{ tasks: AdminExportedTask[]; directAnswers: { name: string }[] }>(ran);
    expect(document).toMatchObject({ principal: 'key:ann' });
    expect(document.tasks).toHaveLength(24);
    expect(document.directAnswers).toMatchObject([{ agent: 'script', message: { role: 'ROLE_AGENT' } }]);
    expect(ran.out).toContain(`${secretOf('ann')} `.repeat(400)); // the content of a file
    expect(ran.out).not.toContain(secretOf('bob'));
    expect(document.tasks.flatMap(({ pushConfigs }) => pushConfigs)).toMatchObject([{ url: `http://127.0.0.1:9/${secretOf('ann')}` }]);
    expect(document.tasks.filter(({ task }) => task.history?.[0]?.metadata?.['note'] === secretOf('ann'))).toHaveLength(24);
    const lines = linesOf(await exported('ann', '--lines'));
    expect(lines).toHaveLength(25);
    const nobody = await exported('nobody');
    expect([nobody.code, nobody.out, nobody.err]).toEqual([1, '', expect.stringContaining('nothing is known of a caller key:nobody')]);
    const plain = await run(['erase', '--principal', 'ann', '--data', data, '--yes'], { env });
    expect([plain.code, plain.err]).toEqual([1, expect.stringContaining('did you mean --principal key:ann?')]);
  });

  it('writes files with --dir', async () => {
    const to = join(folder, 'export');
    expect(await exported('ann', '--dir', to)).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(join(to, 'data.json'), 'utf8')).toContain(secretOf('ann'));
    expect((await exported('ann', '--dir', to)).err).toContain('is not empty');
  });
});

describe('parley erase', () => {
  it('asks first, and with --dry-run only counts', async () => {
    const asked = await erase('ann');
    expect(asked).toMatchObject({ code: 2 });
    expect(asked.err).toContain('--yes');
    const counted = jsonOf<AdminErased>(await erase('ann', '--dry-run', '--json'));
    expect(counted).toMatchObject({ tasks: 24, unfinished: 1, contexts: 1, pushConfigs: 1, directAnswers: 1, erased: false });
    expect(await run(['erase', '--data', data], { env })).toMatchObject({ code: 2 });
    expect((await states('ann')).length).toBeGreaterThan(0);
  });

  it('removes the content of a running node from its files, and leaves others alone', async () => {
    expect(filesWith(data, secretOf('ann')).length).toBeGreaterThan(1);
    const before = (await states('bob')).toSorted();
    const erased = await erase('ann', '--yes');
    expect(erased).toMatchObject({ code: 0 });
    expect(erased.out).toContain('24 tasks (1 unfinished) in 1 conversations, 1 direct answers, 1 push configs');
    expect(erased.out).toContain('Backups still have them');
    expect(filesWith(data, secretOf('ann'))).toEqual([]);
    expect(filesWith(data, secretOf('bob')).length).toBeGreaterThan(1);
    expect(await states('ann')).toEqual([]);
    expect((await states('bob')).toSorted()).toEqual(before);
    expect(jsonOf(await erase('ann', '--dry-run', '--json'))).toMatchObject({ tasks: 0, directAnswers: 0 });
    await send('ann', 'hello again');
    expect(await states('ann')).toEqual(['TASK_STATE_COMPLETED']);
    const audit = linesOf<AuditRecord>(await run(['audit', 'tail', '--data', data, '-n', '1000', '--json'], { env }));
    expect(audit.find(({ action }) => action === 'admin.DELETE')).toMatchObject({ object: '/api/parley/v1/principals/key%3Aann' });
  });

  it('does the same in a folder that no node has open', async () => {
    await node.stop();
    const session = join(data, 'runs/claude-1/sessions');
    mkdirSync(session, { recursive: true });
    writeFileSync(join(session, 'other.json'), '{}');
    expect(filesWith(data, secretOf('bob')).length).toBeGreaterThan(1);
    expect(await exported('bob')).toMatchObject({ code: 0 });
    expect(await erase('bob', '--yes')).toMatchObject({ code: 0 });
    expect(filesWith(data, secretOf('bob'))).toEqual([]);
    expect(filesWith(data, secretOf('cleo')).length).toBeGreaterThan(1);
    expect(readdirSync(session)).toEqual(['other.json']);
    expect(await run(['audit', 'verify', '--data', data], { env })).toMatchObject({ code: 0 });
    node = await serve();
    expect(await states('bob')).toEqual([]);
    expect(await states('cleo')).not.toEqual([]);
    expect(existsSync(join(data, 'tasks.db-wal.lost'))).toBe(false);
  });
});

describe('parley store', () => {
  it('says what takes the space, and compacts, on a running node and a closed one', async () => {
    const stats = (...more: string[]) => run(['store', 'stats', '--data', data, ...more], { env });
    const expectAll = async (): Promise<void> => {
      const { tasks, bytes, files } = jsonOf<AdminStoreStats>(await stats('--json'));
      expect(tasks).toBeGreaterThan(20);
      for (const part of ['tasks', 'events', 'conversations', 'idempotency', 'blobs', 'audit'] as const)
        expect([part, bytes[part] > 0]).toEqual([part, true]);
      expect(files).toMatchObject({ audit: 1 });
    };
    await expectAll();
    expect((await stats()).out).toMatch(
      /^events +\d.*\n[\s\S]*free pages +\d.*\n[\s\S]*total +\d[\s\S]* tasks, .*, 1 file of the audit log\n/m,
    );
    expect(jsonOf(await run(['store', 'compact', '--data', data, '--json'], { env }))).toMatchObject({ bytes: { free: 0 } });
    await node.stop();
    await expectAll();
    expect(await run(['store', 'compact', '--data', data], { env })).toMatchObject({ code: 0 });
    expect(await run(['store', 'shrink', '--data', data], { env })).toMatchObject({ code: 2 });
    node = await serve();
    expect(await states('cleo')).not.toEqual([]);
  });
});
