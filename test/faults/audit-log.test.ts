import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#protocol';
import { openAudit, verifyLog } from '../../src/server/adapters/audit-file.ts';
import { eventually } from '../support/eventually.ts';
import { keysOf } from '../support/key-ring.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';
import { mayMount, mountTmpfs } from '../support/tmpfs.ts';
import { startChild } from './parley.ts';
import { times } from './size.ts';

const folder = scratchFolder();

/** Kills a writer at a random moment. Returns the number of the last record that it reported as written. */
async function kill(path: string, mode: 'written' | 'early'): Promise<number> {
  const child = startChild('audit-writer', [path, mode]);
  await child.said('');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
  child.process.kill('SIGKILL');
  await child.ended;
  return Number(child.lines().at(-1) ?? 0);
}

describe('SIGKILL while the audit log is written and rotated', () => {
  const killMany = async (name: string, mode: 'written' | 'early'): Promise<{ lost: number; files: number }> => {
    const path = join(folder, `${name}.jsonl`);
    let lost = 0;
    for (let round = 0; round < times(12, 300); round += 1) {
      const reported = await kill(path, mode);
      const { records, problem } = await verifyLog(path);
      if (mode === 'written' && problem?.kind !== 'torn') expect(problem).toBeUndefined();
      lost += Math.max(0, reported - records);
      if (mode === 'early' && lost > 0) break;
    }
    const full = join(folder, name);
    return { lost, files: existsSync(full) ? readdirSync(full).length : 0 };
  };

  it('loses no record that was reported as written, and keeps the chain', { timeout: 600_000 }, async () => {
    const { lost, files } = await killMany('honest', 'written');
    expect(lost).toBe(0);
    expect(files).toBeGreaterThan(20);
  });

  it('does lose records that are reported too early (control)', { timeout: 600_000 }, async () => {
    expect((await killMany('early', 'early')).lost).toBeGreaterThan(0);
  });
});

suiteNeeding('the right to mount a file system', mayMount(), 'the audit log on a full disk', () => {
  it('keeps its chain, refuses administration meanwhile, and has every record afterwards', async () => {
    const disk = mountTmpfs(2 ** 20);
    if (disk === undefined) throw new Error('it could be mounted a moment ago');
    const [path, filler] = [join(disk.path, 'audit.jsonl'), join(disk.path, 'filler')];
    const keys = keysOf([{ name: 'root', scopes: ['*'] }]);
    const told: unknown[] = [];
    const audit = await openAudit(path, { onError: (cause) => told.push(cause) });
    const handler = handlerOf({ auth: [keys.auth], audit, limits: { requestsPerSecondMax: 0 } });
    const headers = { Authorization: `Bearer ${keys.key(0)}` };
    const get = (at: string) => handler.fetch(new Request(`http://localhost${at}`, { headers }));
    const send = async (): Promise<string> => {
      const response = await handler.fetch(jsonRequest('http://localhost/message:send', sendBody('chunks=1'), headers));
      return ((await response.json()) as { task: { id: string } }).task.id;
    };
    try {
      const ids = [await send()];
      expect((await get('/api/parley/v1/tasks')).status).toBe(200);
      // It takes all that is left.
      expect(() => writeFileSync(filler, new Uint8Array(2 ** 20))).toThrow('ENOSPC');
      // The last block of the file may have room for some records.
      await eventually(async () => {
        ids.push(await send());
        return (await get('/api/parley/v1/tasks')).status === 503;
      });
      const first = ids[0] ?? '';
      const cancel = jsonRequest(`http://localhost/api/parley/v1/tasks/${first}:cancel`, {}, headers);
      const refused = await handler.fetch(cancel);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ error: { status: 'UNAVAILABLE', message: expect.stringContaining('audit log') } });
      expect((await get('/api/parley/v1/health')).status).toBe(200);
      expect((await get(`/tasks/${first}`)).status).toBe(200);
      expect(told).toHaveLength(1);
      rmSync(filler);
      await eventually(async () => (await get('/api/parley/v1/tasks')).status === 200, 20_000);
      expect(told).toEqual([expect.anything(), undefined]);
      const { records } = (await (await get('/api/parley/v1/audit?limit=1000')).json()) as { records: AuditRecord[] };
      const ofTasks = (action: string) => records.filter((record) => record.action === action).map(({ object }) => object);
      for (const id of ids)
        expect([ofTasks('send'), ofTasks('task.end')]).toEqual([expect.arrayContaining([id]), expect.arrayContaining([id])]);
      expect(await verifyLog(path)).not.toHaveProperty('problem');
    } finally {
      await handler.close();
      expect(await verifyLog(path)).not.toHaveProperty('problem');
      disk.unmount();
    }
  });
});
