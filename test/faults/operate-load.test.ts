import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hasOpenssl } from '../support/certificates.ts';
import { expectFigure } from '../support/figures.ts';
import { suiteNeeding } from '../support/needs.ts';
import { NGINX } from '../support/nginx.ts';
import { startBehindNginx, startLoad } from './behind-nginx.ts';
import { getJson, pause } from './client.ts';
import type { Job } from './ledger.ts';
import { isFull } from './size.ts';
import { NOTHING, verifyAll } from './verify.ts';

/** Minutes of mixed load with backups and reloads, and what has grown at the end. `PARLEY_OPERATE_MINUTES` sets another length. */
const MINUTES = Number(process.env['PARLEY_OPERATE_MINUTES'] ?? (isFull ? 15 : 0.3));
const folder = mkdtempSync(join(tmpdir(), 'parley-operate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const data = join(folder, 'data');
const KINDS: readonly Job['kind'][] = ['send', 'send', 'send', 'stream', 'stream', 'poll'];
const CHECKED = 1000;

interface Sample {
  readonly at: number;
  readonly memory: number;
  readonly files: number;
  /** Bytes of the database for each job that was done. */
  readonly disk: number;
}

function sampleOf(pid: number, data: string, jobs: number): Sample {
  const memory = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  return {
    at: performance.now(),
    memory,
    files: readdirSync(`/proc/${pid}/fd`).length,
    disk: statSync(join(data, 'tasks.db')).size / Math.max(1, jobs),
  };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

suiteNeeding(
  'nginx, openssl and /proc',
  NGINX !== undefined && hasOpenssl && process.platform === 'linux',
  'O5: mixed load for a long time',
  () => {
    it('does not grow in memory, files or latency', { timeout: MINUTES * 60_000 + 600_000 }, async () => {
      const args = [
        '--no-auth',
        '--backup-to',
        join(folder, 'backups'),
        '--backup-every-ms',
        isFull ? '60000' : '5000',
        '--backup-keep',
        '2',
      ];
      const front = await startBehindNginx({ folder, data, args, isBuilt: isFull });
      const load = startLoad(front.url, KINDS, 50);
      const samples: Sample[] = [];
      const began = performance.now();
      for (let second = 0; performance.now() - began < MINUTES * 60_000; second += 1) {
        await pause(1000);
        samples.push(sampleOf(front.node.pid, data, load.done()));
        await getJson(`${front.url}/tasks?pageSize=20`);
        if (second % 30 === 15) front.node.process.kill('SIGHUP');
      }
      await load.stop();
      expect(load.failed).toEqual([]);
      expect(load.done()).toBeGreaterThan(0);
      expect(load.repeated()).toBe(0);
      const some = [...load.ledger].toSorted(() => Math.random() - 0.5).slice(0, CHECKED);
      expect(await verifyAll(front.node.url, new Map(some))).toEqual(NOTHING);
      const errors = front.node.errors();
      expect(errors).not.toContain('the scheduled backup failed');
      expect(errors).toContain('backup made');
      await front.stop();

      // The first fifth is the start: caches fill, and code is compiled. The second is compared with the last.
      const part = (from: number, to: number) => (each: { readonly at: number }) =>
        each.at - began >= from * MINUTES * 60_000 && each.at - began < to * MINUTES * 60_000;
      const figures = (in_: ReturnType<typeof part>) => ({
        memory:
          percentile(
            samples.filter(in_).map(({ memory }) => memory),
            0.5,
          ) /
          2 ** 20,
        files: percentile(
          samples.filter(in_).map(({ files }) => files),
          0.5,
        ),
        disk: percentile(
          samples.filter(in_).map(({ disk }) => disk),
          0.5,
        ),
        latency: percentile(
          load.sends.filter(in_).map(({ ms }) => ms),
          0.5,
        ),
        slow: percentile(
          load.sends.filter(in_).map(({ ms }) => ms),
          0.95,
        ),
      });
      const [start, end] = [figures(part(0.2, 0.4)), figures(part(0.8, 1))];
      const shown = ({ memory, files, disk, latency, slow }: typeof start): string =>
        `${memory.toFixed(0)} MiB, ${files} files, ${disk.toFixed(0)} bytes on disk for a job, sends ${latency.toFixed(1)} ms (95 %: ${slow.toFixed(1)} ms)`;
      process.stdout.write(
        `operate: ${MINUTES} min, ${load.done()} jobs, ${errors.split('backup made').length - 1} backups; at the start ${shown(start)}; at the end ${shown(end)}\n`,
      );
      expectFigure(end.memory, { below: start.memory * 1.3 + 30 });
      expectFigure(end.files, { below: start.files + 20 });
      expectFigure(end.disk, { below: start.disk * 1.3 + 1000 });
      expectFigure(end.latency, { below: start.latency * 2 + 5 });
    });
  },
);
