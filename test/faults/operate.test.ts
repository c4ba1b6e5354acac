import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { run } from '../cli/run.ts';
import { hasOpenssl } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { filesWith } from '../support/find-in-files.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import { launchServe } from '../support/parley.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';
import { startBehindNginx, startLoad } from './behind-nginx.ts';
import { getTask, pause, sendInit } from './client.ts';
import type { Job } from './ledger.ts';
import { startParley } from './parley.ts';
import { times } from './size.ts';
import { NOTHING, verifyAll } from './verify.ts';

/** What an operator does with a node that is in use (docs/guides/operate.md), with nginx in front. */
const folder = mkdtempSync(join(tmpdir(), 'parley-operate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const KINDS: readonly Job['kind'][] = ['send', 'send', 'stream', 'poll'];
const say = (line: string): void => void process.stdout.write(`operate: ${line}\n`);

suiteNeeding('nginx and openssl', NGINX !== undefined && hasOpenssl, 'O1 to O3: a node in production', () => {
  it('O1 to O2: restarts, reloads and backups under load lose and refuse nothing', { timeout: 1_200_000 }, async () => {
    const at = (name: string): string => join(folder, name);
    const [data, config, auth] = [at('data'), at('parley.config.json'), at('auth')];
    const configure = (log: string): void => writeFileSync(config, JSON.stringify({ log }));
    configure('info');
    const env = { PARLEY_AUTH_FOLDER: auth };
    const front = await startBehindNginx({ folder, data, args: ['--no-auth', '--config', config], env });
    const load = startLoad(front.url, KINDS);
    await eventually(() => load.done() > 20);
    const early = await run(['backup', at('early'), '--data', data], { env });
    expect(early).toMatchObject({ code: 0 });

    // Reloads: no call has to be repeated.
    const before = load.repeated();
    for (let reload = 1; reload <= times(2, 50); reload += 1) {
      configure(reload % 2 === 0 ? 'info' : 'debug');
      front.node.process.kill('SIGHUP');
      await eventually(() => front.node.errors().split('the configuration was reloaded').length === reload + 1);
      const done = load.done();
      await eventually(() => load.done() > done + 5);
    }
    expect(load.repeated() - before).toBe(0);
    configure('info');

    // Restarts: calls may have to be repeated, and none fails.
    for (let restart = 0; restart < times(2, 20); restart += 1) {
      await front.restart();
      const done = load.done();
      await eventually(() => load.done() > done + 20);
    }
    expect(load.repeated()).toBeGreaterThan(0);

    // A backup under load has everything that was answered before it began.
    const known = [...load.ledger.keys()];
    mkdirSync(at('copied'), { mode: 0o700 });
    copyFileSync(join(data, 'tasks.db'), join(at('copied'), 'tasks.db'));
    const late = await run(['backup', at('late'), '--data', data], { env });
    expect(late).toMatchObject({ code: 0 });
    await load.stop();
    expect(load.failed).toEqual([]);
    expect(await verifyAll(front.node.url, load.ledger)).toEqual(NOTHING);

    expect(await run(['restore', at('late'), '--data', at('restored')], { env })).toMatchObject({ code: 0 });
    const restored = await startParley({ data: at('restored') });
    for (const id of known) expect(await getTask(restored.url, id)).toMatchObject({ id });
    let same = 0;
    for (const id of known) {
      const task = await getTask(restored.url, id);
      if (task.status.state !== 'TASK_STATE_COMPLETED') continue; // a run that continues on the restored node
      expect(task).toEqual(await getTask(front.node.url, id));
      same += 1;
    }
    expect(same).toBeGreaterThan(known.length / 2);
    await restored.stop();

    // The controls: an older backup lacks answers that clients had, and a plain copy of a live database is refused.
    expect(await run(['restore', at('early'), '--data', at('old')], { env })).toMatchObject({ code: 0 });
    const old = await startParley({ data: at('old') });
    expect((await verifyAll(old.url, load.ledger)).lost).toBeGreaterThan(0);
    await old.stop();
    const copied = launchServe({ args: ['script', '--data', at('copied')] });
    expect((await copied.ended).code).toBe(1);
    say(`${load.done()} jobs, ${load.repeated()} repeated, 0 failed; ${known.length} tasks in the backup, ${same} compared`);
    await front.stop();
  });

  it('O3: erasing a caller under load leaves nothing of it in the files, and everything of others', { timeout: 600_000 }, async () => {
    const at = (name: string): string => join(folder, `erase-${name}`);
    const env = { PARLEY_AUTH_FOLDER: at('auth'), PARLEY_SPILL_BYTES: '1000' };
    const keys = new Map<string, string>();
    for (const who of ['ann', 'bob']) {
      const made = await run(['keys', 'create', who, '--json'], { env });
      keys.set(who, (JSON.parse(made.out) as { key: string }).key);
    }
    mkdirSync(at('nginx'));
    const front = await startBehindNginx({ folder: at('nginx'), data: at('data'), args: ['--require-auth'], env: { ...env } });
    const secretOf = (who: string): string => `secret-of-${who}-51ce`;
    /** The status of the response. A caller that sends too fast waits. */
    const send = async (who: string, text: string): Promise<number> => {
      for (;;) {
        const { status } = await fetch(
          `${front.url}/message:send`,
          sendInit(text, { headers: { Authorization: `Bearer ${keys.get(who)}` } }),
        );
        if (status !== 429) return status;
        await pause(100);
      }
    };
    for (let at = 0; at < times(20, 500); at += 1)
      for (const who of keys.keys())
        expect(await send(who, `chunks=2 # ${secretOf(who)} ${'x'.repeat(at % 5 === 0 ? 2000 : 0)}`)).toBe(200);
    let isOver = false;
    const answers = new Set<number>();
    const others = (async (): Promise<void> => {
      for (; !isOver; await pause(20)) answers.add(await send('bob', `chunks=1 # ${secretOf('bob')}`));
    })();
    // The control: the search finds the content before.
    expect(filesWith(at('data'), secretOf('ann'))).not.toEqual([]);
    const erased = await run(['erase', '--principal', 'key:ann', '--yes', '--data', at('data')], { env });
    expect(erased).toMatchObject({ code: 0 });
    isOver = true;
    await others;
    expect([...answers]).toEqual([200]);
    await front.stop();
    expect(filesWith(at('data'), secretOf('ann'))).toEqual([]);
    expect(filesWith(at('data'), secretOf('bob'))).not.toEqual([]);
    expect(readFileSync(join(at('data'), 'audit.jsonl'), 'utf8')).toContain('principals/key%3Aann');
  });
});

suiteNeeding(
  'nginx, openssl and the right to mount a file system',
  NGINX !== undefined && hasOpenssl && mayMount(),
  'O4: a disk that is full and has room again, under load',
  () => {
    it('refuses what it can not store, loses nothing that was answered, and continues', { timeout: 600_000 }, async () => {
      const disk = mountTmpfs(96 * 2 ** 20);
      if (disk === undefined) throw new Error('it could be mounted a moment ago');
      mkdirSync(join(folder, 'full'));
      const front = await startBehindNginx({ folder: join(folder, 'full'), data: join(disk.path, 'data'), args: ['--no-auth'] });
      try {
        for (let round = 0; round < times(1, 5); round += 1) {
          const load = startLoad(front.url, KINDS);
          await eventually(() => load.done() > 20);
          writeFileSync(join(disk.path, 'filler'), new Uint8Array(50 * 2 ** 20));
          let refused = 0;
          const large = async (): Promise<void> => {
            const { status } = await fetch(`${front.url}/message:send`, sendInit('chunks=20 size=20000'));
            if (status === 503) refused += 1;
          };
          await eventually(async () => {
            await large();
            return refused > 0;
          }, 120_000);
          rmSync(join(disk.path, 'filler'));
          const done = load.done();
          await eventually(() => load.done() > done + 20);
          await load.stop();
          expect(load.failed).toEqual([]);
          expect(await verifyAll(front.node.url, load.ledger)).toEqual(NOTHING);
          say(`full disk: ${load.done()} jobs, ${load.repeated()} repeated, ${refused} refused, 0 lost`);
        }
      } finally {
        await front.node.kill();
        await front.stop();
        disk.unmount();
      }
    });
  },
);
