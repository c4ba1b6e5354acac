import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditRecord } from '#protocol';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { sendBody } from '../support/server.ts';
import { linesOf, run } from './run.ts';

/** `parley backup` and `parley restore` on a real node with real files. */
const folder = scratchFolder();
const auth = join(folder, 'auth');
const env = { PARLEY_AUTH_FOLDER: auth, PARLEY_SPILL_BYTES: '1000' };
const at = (name: string): string => join(folder, name);
const data = at('data');

async function post(node: Parley, path: string, body: object): Promise<{ task: { id: string } }> {
  const response = await fetch(`${node.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { task: { id: string } };
}

const send = (node: Parley, text: string): Promise<{ task: { id: string } }> => post(node, '/message:send', sendBody(text));
const read = async (node: Parley, id: string): Promise<unknown> => await (await fetch(`${node.url}/tasks/${id}`)).json();
const serve = (where: string): Promise<Parley> => parleyServe({ args: ['script', '--data', where], env });

suiteNeeding('openssl', hasOpenssl, 'parley backup of a node with TLS, or on a Unix socket', () => {
  it('reaches the node that its note names, from another folder, with a certificate for the name that callers use', async () => {
    const { cert, key } = createAuthority(folder, 'ours').issue('node', 'DNS:agents.example.org');
    for (const args of [
      ['--tls-cert', cert, '--tls-key', key],
      ['--socket', './node.sock'],
    ]) {
      const node = await parleyServe({ args: ['echo', '--data', './listens', ...args], env, cwd: folder });
      const name = args[0]?.slice(2) ?? '';
      expect(await run(['backup', at(name), '--data', at('listens')], { env })).toMatchObject({ code: 0, err: '' });
      expect(await run(['store', 'stats', '--data', at('listens')], { env })).toMatchObject({ code: 0, err: '' });
      expect(await node.stop()).toBe(0);
      expect(existsSync(join(at(name), 'backup.json'))).toBe(true);
    }
  });
});

describe('parley backup', () => {
  let node: Parley;
  const before = new Map<string, unknown>();
  beforeAll(async () => {
    await run(['keys', 'create', 'ci', '--json'], { env });
    node = await serve(data);
    for (const text of ['chunks=3', 'ask', 'fail', 'chunks=2 size=5000']) {
      const { task } = await send(node, text);
      before.set(task.id, await read(node, task.id));
    }
  });
  afterAll(() => node.stop());

  it('backs up a running node while it works; what is restored is the same, task by task', async () => {
    let isBusy = true;
    let sent = 0;
    const load = Promise.all(
      [1, 2, 3].map(async () => {
        while (isBusy) {
          await send(node, 'chunks=2');
          sent += 1;
        }
      }),
    );
    await eventually(() => sent > 20);
    const made = await run(['backup', at('one'), '--data', data, '--json'], { env });
    expect(made).toMatchObject({ code: 0 });
    const { tasks } = JSON.parse(made.out) as { tasks: number };
    expect(tasks).toBeGreaterThan(before.size + 20);
    isBusy = false;
    await load;
    expect(readdirSync(at('one')).toSorted()).toEqual(['audit.jsonl', 'auth', 'backup.json', 'blobs', 'keys.json', 'tasks.db']);
    expect(statSync(at('one')).mode & 0o077).toBe(0);

    const fresh = { PARLEY_AUTH_FOLDER: at('auth2') };
    const restored = await run(['restore', at('one'), '--data', at('restored')], { env: fresh });
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.out).toMatch(new RegExp(`${tasks} tasks of .*\\n.*parley serve AGENT --data`));
    expect(existsSync(join(at('auth2'), 'api-keys.json'))).toBe(true);
    const other = await serve(at('restored'));
    for (const [id, task] of before) expect(await read(other, id)).toEqual(task);
    await other.stop();
    expect(await run(['audit', 'verify', '--data', at('restored')], { env })).toMatchObject({ code: 0 });
    // The start of a backup is recorded; how often the command asked how far it is, is not.
    const records = linesOf<AuditRecord>(await run(['audit', 'export', '--data', data], { env }));
    const actions = records.filter(({ object }) => object === '/api/parley/v1/backup').map(({ action }) => action);
    expect(new Set(actions)).toEqual(new Set(['admin.POST']));
  });

  it('finds every change of a backup, and restores nothing then', async () => {
    expect(await run(['backup', at('two'), '--data', data], { env })).toMatchObject({ code: 0 });
    expect(await run(['backup', '--verify', at('two')], { env })).toMatchObject({ code: 0 });
    const blob = readdirSync(join(at('two'), 'blobs'), { recursive: true, withFileTypes: true }).find((entry) => entry.isFile());
    const paths = [join(blob?.parentPath ?? '', blob?.name ?? ''), ...['tasks.db', 'keys.json'].map((name) => join(at('two'), name))];
    for (const path of paths) {
      const good = readFileSync(path);
      appendFileSync(path, 'x');
      for (const args of [
        ['backup', '--verify', at('two')],
        ['restore', at('two'), '--data', at('never')],
      ]) {
        const ran = await run(args, { env });
        expect(ran).toMatchObject({ code: 1 });
        expect(ran.err).toMatch(/is damaged: .* was changed/);
      }
      writeFileSync(path, good);
    }
    rmSync(join(at('two'), 'keys.json'));
    expect((await run(['backup', '--verify', at('two')], { env })).err).toContain('keys.json is missing');
    expect(existsSync(at('never'))).toBe(false);
  });

  it('refuses folders that are not empty, and those inside the data folder', async () => {
    mkdirSync(at('full'));
    writeFileSync(join(at('full'), 'mine.txt'), 'mine');
    const full = await run(['backup', at('full'), '--data', data], { env });
    expect(full).toMatchObject({ code: 1 });
    expect(full.err).toContain('is not empty');
    expect(readdirSync(at('full'))).toEqual(['mine.txt']);
    expect((await run(['backup', join(data, 'copy'), '--data', data], { env })).err).toContain('is inside the data folder');
    expect((await run(['restore', at('one'), '--data', data], { env })).err).toContain('is not empty');
    expect((await run(['restore', at('full'), '--data', at('x')], { env })).err).toContain('is not a backup');
    expect(await run(['backup'], { env })).toMatchObject({ code: 2 });
    expect(await run(['restore'], { env })).toMatchObject({ code: 2 });
  });

  it('backs up a node that does not run', async () => {
    await node.stop();
    const made = await run(['backup', at('three'), '--data', data], { env });
    expect(made).toMatchObject({ code: 0 });
    expect(made.out).toMatch(/three: \d+ tasks, .* all read again and complete/);
    expect((await run(['backup', at('four'), '--data', at('nowhere')], { env })).err).toContain('has no tasks');
    node = await serve(data);
    for (const [id, task] of before) expect(await read(node, id)).toEqual(task);
  });
});
