import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAudit, verifyAudit, verifyLog } from '../../src/server/adapters/audit-file.ts';
import { parley } from '../cli/run.ts';
import { eventually } from '../support/eventually.ts';
import { scratchFolder } from '../support/scratch.ts';

const root = scratchFolder();
let count = 0;
const freshFolder = (): string => {
  count += 1;
  return join(root, `log-${count}`);
};

interface Clocked {
  readonly now: () => Date;
  ms: number;
}

const clock = (): Clocked => {
  const at: Clocked = { ms: Date.parse('2026-01-01T00:00:00Z'), now: () => new Date(at.ms) };
  return at;
};

const fullIn = (file: string): readonly string[] => {
  const folder = file.replace(/\.jsonl$/, '');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : [];
};

/** Each group of five records is one write. */
async function grow(file: string, writes: number, options: Parameters<typeof openAudit>[1] = {}): Promise<void> {
  const log = await openAudit(file, options);
  for (let at = 0; at < writes; at += 1) {
    for (let each = 0; each < 5; each += 1) log.append({ principal: 'ann', action: 'send', object: `task-${each}`, decision: 'allowed' });
    await log.written?.();
  }
  await log.close();
}

const fileIn = (folder: string): string => join(folder, 'audit.jsonl');
const made = async (writes: number, options?: Parameters<typeof openAudit>[1]): Promise<string> => {
  const file = `${freshFolder()}.jsonl`;
  await grow(file, writes, options);
  return file;
};

describe('an audit log of several files', () => {
  it('rotates by size, and its chain goes across files and restarts', async () => {
    const file = await made(6, { bytesMax: 1000 });
    await grow(file, 6, { bytesMax: 1000 });
    expect(fullIn(file).length).toBeGreaterThan(2);
    expect(fullIn(file)[0]).toBe('audit-000000000001.jsonl');
    expect(await verifyLog(file)).toMatchObject({ records: 60, open: 0 });
    const log = await openAudit(file);
    const { records, last } = await log.read({ after: 27, limit: 1000 });
    expect([records.map(({ seq }) => seq), last]).toEqual([Array.from({ length: 33 }, (_, at) => at + 28), 60]);
    await log.close();
  });

  it('rotates by age', async () => {
    const time = clock();
    const log = await openAudit(join(root, 'aged.jsonl'), { msMax: 1000, now: time.now });
    for (let day = 0; day < 4; day += 1) {
      log.append({ principal: '', action: 'server.start', decision: 'allowed' });
      await log.written?.();
      time.ms += 600;
    }
    await log.close();
    expect(fullIn(join(root, 'aged.jsonl'))).toEqual(['audit-000000000001.jsonl']);
    expect(await verifyLog(join(root, 'aged.jsonl'))).toMatchObject({ records: 4 });
  });

  it('continues after a crash between two files, or during the first write to a new one', async () => {
    const file = await made(4, { bytesMax: 1 });
    const last = readFileSync(file, 'utf8');
    rmSync(file);
    await grow(file, 1);
    expect(await verifyLog(file)).toMatchObject({ records: 20, open: 0 });
    // A part of the first write: complete records without a hash, and an incomplete one.
    const other = await made(4, { bytesMax: 1 });
    const lines = last.split('\n');
    writeFileSync(other, `${lines[0]}\n${lines[1]}\n${lines[2]?.slice(0, 20)}`);
    await grow(other, 1);
    expect(await verifyLog(other)).toMatchObject({ records: 15 + 2 + 1 + 5, open: 0 });
    expect(readFileSync(other, 'utf8')).toContain('audit.cut');
  });

  it('deletes old files, says so in the log, and can be verified from there', async () => {
    const time = clock();
    const file = await made(3, { bytesMax: 1, now: time.now });
    time.ms += 10_000;
    await grow(file, 3, { bytesMax: 1, keepMs: 5000, now: time.now });
    await eventually(() => !fullIn(file).includes('audit-000000000001.jsonl'));
    const verdict = await verifyLog(file);
    expect(verdict.problem).toBeUndefined();
    expect(verdict.records).toBeLessThan(30);
    const log = readFileSync(join(file.replace(/\.jsonl$/, ''), fullIn(file)[0] ?? ''), 'utf8') + readFileSync(file, 'utf8');
    expect(log).toContain('"action":"audit.pruned"');
    const cli = parley(['audit', 'verify', '--file', file]);
    expect(cli.code).toBe(1); // a single file of the log starts in the middle
    await grow(file, 1, { now: time.now });
    expect((await verifyLog(file)).problem).toBeUndefined();
  });

  it('shows deleted and changed files', async () => {
    const file = await made(4, { bytesMax: 1 });
    const folder = file.replace(/\.jsonl$/, '');
    const [first = '', second = ''] = fullIn(file).map((name) => join(folder, name));
    const text = readFileSync(second, 'utf8');
    writeFileSync(second, text.replace('task-1', 'task-9'));
    expect((await verifyLog(file)).problem).toMatchObject({ kind: 'changed', file: second });
    writeFileSync(second, text);
    rmSync(second);
    expect((await verifyLog(file)).problem).toMatchObject({ kind: 'changed' });
    writeFileSync(second, text);
    expect((await verifyLog(file)).problem).toBeUndefined();
    // Somebody deletes the first file and pretends that retention did.
    const { head } = await verifyAudit([first]);
    rmSync(first);
    expect((await verifyLog(file)).problem).toMatchObject({ kind: 'changed' });
    writeFileSync(join(folder, 'start.json'), JSON.stringify({ seq: 5, hash: head }));
    expect((await verifyLog(file)).problem).toMatchObject({ kind: 'start' });
  });

  it('is followed by the command line', async () => {
    const folder = freshFolder();
    mkdirSync(folder);
    await grow(fileIn(folder), 4, { bytesMax: 1 });
    const at = ['--data', folder];
    expect(parley(['audit', 'verify', ...at]).out).toMatch(/^20 records, all unchanged\. Head: [0-9a-f]{64}\n$/);
    const exported = parley(['audit', 'export', ...at])
      .out.trimEnd()
      .split('\n');
    expect(exported.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(
      parley(['audit', 'export', ...at, '--after', '17'])
        .out.trimEnd()
        .split('\n'),
    ).toHaveLength(3);
    expect(parley(['audit', 'export', ...at, '--until', '2020-01-01']).out).toBe('');
    expect(parley(['audit', 'export', ...at, '--since', 'never'])).toMatchObject({ code: 2 });
    expect(
      parley(['audit', 'tail', ...at, '-n', '8', '--json'])
        .out.trimEnd()
        .split('\n'),
    ).toHaveLength(8);
    const [, second = ''] = exported;
    expect(second).not.toContain('"hash"');
    expect(parley(['audit', 'verify', ...at, '--head', (JSON.parse(exported[4] ?? '') as { hash: string }).hash]).code).toBe(0);
  });
});
