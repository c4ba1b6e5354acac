import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Task } from '#protocol';
import type { CopyResult } from '../../src/server/adapters/store-copy.ts';
import type { Ran } from '../cli/run.ts';
import { jsonOf, run, start } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { launchServe } from '../support/parley.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { scratchFolder } from '../support/scratch.ts';
import { chunksText, freshName, getJson, getTask, logOf, sendInit, sendTask, textOf } from './client.ts';
import { eventsOf } from './frames.ts';
import { startParley } from './parley.ts';
import { operate } from './replicas/audit.ts';
import { times } from './size.ts';
import { tamperWith } from './tamper.ts';

const TASKS = times(1500, 5000);
const KILLS = times(6, 60);
const LONG = 3000;

async function rpc(url: string, method: string, params: object): Promise<{ readonly result?: Task & { readonly kind?: string } }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
  return (await getJson(`${url}/a2a`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })) as { result?: Task };
}

suiteNeeding('Postgres', hasPostgres, 'parley store copy', () => {
  const [folder, place] = [scratchFolder(), postgresFolder()];
  const data = join(folder, 'data');
  const env = { PARLEY_AUTH_FOLDER: join(folder, 'auth'), PARLEY_SPILL_BYTES: '1000' };
  const serving = { data, env, args: ['--allow-loopback-targets'] };
  const made = new Map<string, { readonly task: Task; readonly log: unknown }>();
  let [server, receiver]: [PostgresServer | undefined, Receiver | undefined] = [undefined, undefined];
  let [jwks, question, undelivered, direct]: [unknown, string, string, unknown] = [undefined, '', '', undefined];

  /** The URL of a new database. */
  const database = async (name: string): Promise<string> => {
    await sql(server?.url ?? '', `CREATE DATABASE ${name}`);
    return (server?.url ?? '').replace(/\/postgres$/, `/${name}`);
  };
  const sql = (url: string, text: string): Promise<readonly Record<string, unknown>[]> => operate(url, text);
  const copy = (to: string, from = `sqlite:${data}`): Promise<Ran> =>
    run(['store', 'copy', from, to, '--json'], { env, timeoutMs: 300_000 });
  /** Why a copy is refused. */
  const refusal = async (to: string, from = `sqlite:${data}`): Promise<string> => {
    const { code, err } = await run(['store', 'copy', from, to], { env });
    expect(code).toBe(1);
    return err;
  };
  const keyed = sendInit('message', { messageId: 'direct', headers: { 'Idempotency-Key': 'direct-key' } });

  beforeAll(async () => {
    server = await startPostgres(place);
    // It does not answer, so the delivery is under way when the node is killed.
    receiver = await startReceiver(() => {});
    const node = await startParley(serving);
    const { url } = node;
    question = (await sendTask(url, 'ask', { contextId: 'talk' })).id;
    await getJson(`${url}/api/parley/v1/conversations/talk:rename`, post({ name: 'A talk' }));
    await sendTask(url, 'fail');
    await sendTask(url, 'chunks=3 size=5000');
    await sendTask(url, `chunks=${LONG}`);
    await rpc(url, 'message/send', {
      message: { kind: 'message', messageId: 'm-03', role: 'user', parts: [{ kind: 'text', text: 'ask' }] },
    });
    await rpc(url, 'tasks/send', { id: 'named', message: { role: 'user', parts: [{ type: 'text', text: 'chunks=2' }] } });
    await rpc(url, 'tasks/send', { id: 'named', message: { role: 'user', parts: [{ type: 'text', text: 'chunks=1' }] } });
    direct = await getJson(`${url}/message:send`, keyed);
    const special = await listed(url);
    for (let at = 0; at < TASKS; at += 50)
      await Promise.all(Array.from({ length: 50 }, () => sendTask(url, 'chunks=1', { messageId: freshName('many') })));
    const keep = async (id: string): Promise<void> => void made.set(id, { task: await getTask(url, id), log: await logOf(url, id) });
    for (const { id } of [...special, ...(await listed(url))]) await keep(id);
    jwks = await getJson(`${url}/.well-known/jwks.json`);
    undelivered = await withWebhook(url);
    await keep(undelivered);
    await eventually(() => expect(receiver?.hits.length).toBeGreaterThan(0));
    await node.kill();
  }, 300_000);
  afterAll(async () => {
    await receiver?.close();
    await server?.stop();
  });

  const listed = async (url: string): Promise<readonly Task[]> =>
    ((await getJson(`${url}/tasks?pageSize=100`)) as { readonly tasks: readonly Task[] }).tasks;
  const post = (body: object): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  /** A task with a webhook that has a secret. */
  const withWebhook = async (url: string): Promise<string> => {
    const message = { messageId: freshName('m'), role: 'ROLE_USER', parts: [{ text: 'ask' }] };
    const configuration = { taskPushNotificationConfig: { url: `${receiver?.url}/hook`, token: 'the-secret-token' } };
    const { task } = (await getJson(`${url}/message:send`, post({ message, configuration }))) as { readonly task: Task };
    return task.id;
  };
  const serve = (to: string, name: string): Promise<Parley> =>
    startParley({ ...serving, data: join(folder, name), args: [...serving.args, '--store', to] });

  it('moves everything that a node has, and a node on Postgres continues with it', { timeout: 600_000 }, async () => {
    const to = await database('moved');
    const ran = await copy(to);
    expect(ran, ran.out).toMatchObject({ code: 0, err: '' });
    const result = jsonOf<CopyResult>(ran);
    expect(result).toMatchObject({ resumed: false, damaged: [], pushConfigs: 1, queues: 1, names: 1, blobs: 3 });
    expect(result.checked).toEqual({ tasks: result.tasks, entries: result.entries, sends: result.sends });
    expect(result.tasks).toBe(TASKS + 8);
    if (receiver !== undefined) receiver.reply = (_, response) => void response.writeHead(204).end();
    receiver?.hits.splice(0);
    const node = await serve(to, 'served');
    const { url } = node;
    expect([...made.values()].map(({ task }) => textOf(task))).toContain(chunksText(LONG));
    for (const [id, { task, log }] of made) {
      expect(await getTask(url, id)).toEqual(task);
      expect(await logOf(url, id)).toEqual(log);
    }
    expect(await getJson(`${url}/.well-known/jwks.json`)).toEqual(jwks);
    expect(await getJson(`${url}/message:send`, keyed)).toEqual(direct);
    const { conversations } = (await getJson(`${url}/api/parley/v1/conversations?name=A%20talk`)) as {
      readonly conversations: readonly object[];
    };
    expect(conversations).toEqual([expect.objectContaining({ contextId: 'talk', name: 'A talk' })]);
    expect(await getJson(`${url}/tasks?pageSize=1`)).toMatchObject({ totalSize: result.tasks });
    const resumed: string[] = [];
    const stream = await fetch(`${url}/tasks/${question}:subscribe`, { method: 'POST', headers: { 'Last-Event-ID': '1' } });
    const answer = sendTask(url, 'yes', { taskId: question, contextId: 'talk' });
    for await (const frame of eventsOf(stream)) resumed.push(frame.id ?? '');
    expect((await answer).status.state).toBe('TASK_STATE_COMPLETED');
    // The task as it was after event 1, and then all events.
    expect(resumed).toEqual(Array.from({ length: resumed.length }, (_, at) => String(at + 1)));
    expect(resumed.length).toBeGreaterThan(2);
    await eventually(() => {
      const hit = receiver?.hits.find(
        ({ headers, body }) => headers['x-a2a-notification-token'] === 'the-secret-token' && body.includes(undelivered),
      );
      expect(hit).toBeDefined();
    });
    await sendTask(url, 'done', { taskId: undelivered });
    await eventually(() =>
      expect(receiver?.hits.some(({ body }) => body.includes('TASK_STATE_COMPLETED') && body.includes(undelivered))).toBe(true),
    );
    expect(
      (await rpc(url, 'tasks/send', { id: 'named', message: { role: 'user', parts: [{ type: 'text', text: 'chunks=1' }] } })).result?.id,
    ).toBe('named');
    await node.stop();
    expect(await refusal(to)).toContain('was copied to');
  });

  it('continues after it was killed at any place: nothing is lost or doubled', { timeout: 600_000 }, async () => {
    const to = await database('killed');
    let kills = 0;
    for (let seed = 7; kills < KILLS; ) {
      const running = start(['store', 'copy', `sqlite:${data}`, to], { env, timeoutMs: 300_000 });
      // Kills after a random part of the work, which begins when the copy is noted or has more tasks than before.
      const before = await progressOf(to);
      await eventually(async () => running.child.exitCode !== null || (await progressOf(to)) !== before, 120_000);
      seed = (seed * 16_807) % 2_147_483_647;
      await new Promise((resolve) => setTimeout(resolve, seed % 400));
      running.child.kill('SIGKILL');
      const { code } = await running.ended;
      if (code === 0) break;
      kills += 1;
      if (kills === 1) {
        const refused = launchServe({ ...serving, args: ['script', '--data', join(folder, 'early'), '--store', to] });
        expect((await refused.ended).code).not.toBe(0);
        expect(refused.errors()).toContain('unfinished copy');
      }
    }
    expect(kills).toBeGreaterThan(1);
    const note = (await sql(to, `SELECT value FROM parley.secrets WHERE name = 'copy'`))[0]?.['value'];
    if (!String(note).includes('done')) {
      const last = await copy(to);
      expect(last, last.out).toMatchObject({ code: 0, err: '' });
      expect(jsonOf<CopyResult>(last)).toMatchObject({ resumed: true, tasks: TASKS + 8, checked: { tasks: TASKS + 8 } });
    }
    const moved = (server?.url ?? '').replace(/\/postgres$/, '/moved');
    for (const table of ['titles', 'pushes', 'realms'])
      expect(await sql(to, `SELECT count(*) FROM parley.${table}`), table).toEqual(
        await sql(moved, `SELECT count(*) FROM parley.${table}`),
      );
    expect(await sql(to, 'SELECT count(*) FROM parley.tasks')).toEqual([{ count: String(TASKS + 8) }]);
    // Each log has the entries 1 to its last one, each in one segment, however the copy was cut.
    const broken = `SELECT t.key FROM parley.tasks t LEFT JOIN parley.segments s ON s.task = t.key GROUP BY t.key, t.last
      HAVING min(s.first) IS DISTINCT FROM 1 OR max(s.last) IS DISTINCT FROM t.last OR sum(s.last - s.first + 1) IS DISTINCT FROM t.last`;
    expect(await sql(to, broken)).toEqual([]);
    expect(await sql(to, 'SELECT task FROM parley.segments WHERE task NOT IN (SELECT key FROM parley.tasks)')).toEqual([]);
    const node = await serve(to, 'after-kills');
    for (const [id, { task, log }] of [...made].slice(0, 20)) {
      expect(await getTask(node.url, id)).toEqual(task);
      expect(await logOf(node.url, id)).toEqual(log);
    }
    await node.stop();
  });

  /** What a copy has done so far, as a text that changes. */
  const progressOf = async (to: string): Promise<string> => {
    const [there] = await sql(to, `SELECT to_regclass('parley.secrets') IS NOT NULL AS yes`);
    if (there?.['yes'] !== true) return '';
    return JSON.stringify(
      await sql(to, `SELECT (SELECT value FROM parley.secrets WHERE name = 'copy') AS note, (SELECT max(key) FROM parley.tasks) AS key`),
    );
  };

  it('finds at its end what differs, and no node starts on such a copy', { timeout: 600_000 }, async () => {
    const to = await database('tampered');
    expect(await copy(to)).toMatchObject({ code: 0 });
    const found = await tamperWith(to, TASKS + 8);
    const err = await refusal(to);
    for (const words of found) expect(err).toContain(words);
    const refused = launchServe({ ...serving, args: ['script', '--data', join(folder, 'tampered'), '--store', to] });
    expect((await refused.ended).code).not.toBe(0);
    expect(refused.errors()).toContain('unfinished copy');
  });

  it('copies a backup, and leaves it as it is', { timeout: 600_000 }, async () => {
    const backup = join(folder, 'backup');
    expect((await run(['backup', backup, '--data', data], { env })).code).toBe(0);
    const [to, blobs] = [await database('from_backup'), join(folder, 'shared-blobs')];
    const result = await run(['store', 'copy', `sqlite:${backup}`, to, '--blobs', blobs, '--json'], { env, timeoutMs: 300_000 });
    expect(result, result.out).toMatchObject({ code: 0, err: '' });
    expect(jsonOf<CopyResult>(result).blobs).toBe(3);
    expect(readdirSync(blobs, { recursive: true }).filter((name) => /[0-9a-f]{64}$/.test(String(name)))).not.toEqual([]);
    expect(await sql(to, 'SELECT count(*) FROM parley.blobs')).toEqual([{ count: '0' }]);
    expect((await run(['backup', '--verify', backup], { env })).code).toBe(0);
  });

  it('says what is wrong', { timeout: 600_000 }, async () => {
    const to = await database('wrong');
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    writeFileSync(join(empty, 'note.txt'), 'x');
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [[], 2, 'which store?'],
      [[`sqlite:${data}`], 2, 'to which database?'],
      [[data, to], 2, 'must be sqlite:DIR'],
      [[to, `sqlite:${data}`], 2, 'not from it'],
      [[`sqlite:${data}`, 'mysql://localhost/x'], 2, 'starts with postgres://'],
      [[`sqlite:${data}`, to, 'more'], 2, 'one source and one database'],
      [[`sqlite:${folder}/nowhere`, to], 1, 'there is no'],
      [[`sqlite:${empty}`, to], 1, 'has no tasks'],
      [[`sqlite:${join(empty, 'note.txt')}`, to], 1, 'is not the database of a node'],
      [[`sqlite:${data}`, 'postgres://parley@127.0.0.1:1/x'], 1, 'ECONNREFUSED'],
      [
        [`sqlite:${data}`, to.replace('parley@', 'stranger@')],
        1,
        'role "stranger" does not exist. Correct the URL of the store, or create the role',
      ],
      [
        [`sqlite:${data}`, to.replace(/\/wrong$/, '/missing')],
        1,
        'database "missing" does not exist. Correct the URL of the store, or create the database',
      ],
    ];
    for (const [args, code, words] of cases) {
      const ran = await run(['store', 'copy', ...args], { env });
      expect([ran.code, ran.err], args.join(' ')).toEqual([code, expect.stringContaining(words)]);
    }
  });

  it('names a wrong password as the cause, and never shows it', { timeout: 600_000 }, async () => {
    const to = await database('guarded');
    await sql(server?.url ?? '', `CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'right-password'`);
    const rules = join(place, 'postgres', 'pg_hba.conf');
    writeFileSync(rules, `host all guarded 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
    await sql(server?.url ?? '', 'SELECT pg_reload_conf()');
    const as = (password: string): string => to.replace('parley@', `guarded:${password}@`);
    await eventually(async () => expect(await refusal(as('wrong-password'))).toContain('password authentication failed'));
    expect(await refusal(as('wrong-password'))).not.toContain('wrong-password');
    const ran = await copy(as('right-password'));
    expect(ran, ran.out).toMatchObject({ code: 0, err: '' });
  });

  it('refuses a source or a database that a node uses, and a database with other tasks', { timeout: 600_000 }, async () => {
    const to = await database('in_use');
    const copyOf = join(folder, 'copy-of-data');
    cpSync(data, copyOf, { recursive: true });
    const source = await startParley({ ...serving, data: copyOf });
    expect(await refusal(to, `sqlite:${copyOf}`)).toContain('is in use by process');
    await source.stop();
    const node = await serve(to, 'other');
    expect(await refusal(to)).toContain('another node serves this store');
    await sendTask(node.url, 'chunks=1');
    await node.stop();
    expect(await refusal(to)).toContain('has 1 task already');
  });
});
