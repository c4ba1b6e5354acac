import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectFigure } from '../support/figures.ts';
import { metric } from '../support/server.ts';
import { pause, sendInit, sendTask } from './client.ts';
import { childFile, startParley } from './parley.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-e9-'));
afterAll(() => rmSync(folder, { recursive: true }));
const MIB = 2 ** 20;
const LATE_MS = 20;

describe('E9, H14: the event loop under load, with checkpoints', () => {
  it('has a p99 delay of at most 20 ms, and the WAL stays within its limit', { timeout: 300_000 }, async () => {
    let measured = await measure(1);
    // Other work on the machine can only add delay, so the best of several runs counts.
    for (let attempt = 2; attempt <= 3 && measured.p99 >= LATE_MS; attempt += 1) measured = await measure(attempt);
    expect(measured.walBytes).toBeGreaterThan(16 * MIB); // there was something to checkpoint
    expect(measured.walBytes).toBeLessThan(80 * MIB);
    expectFigure(measured.p99, { below: LATE_MS });
  });
});

async function measure(attempt: number): Promise<{ readonly p99: number; readonly walBytes: number }> {
  // Measures the server's event loop under load, without its start.
  const data = join(folder, `data-${attempt}`);
  const server = await startParley({ data, node: ['--import', childFile('loop-delay.ts')] });
  let isOver = false;
  let walBytes = 0;
  const watch = async (): Promise<void> => {
    for (; !isOver; await pause(20))
      walBytes = Math.max(walBytes, statSync(join(data, 'tasks.db-wal'), { throwIfNoEntry: false })?.size ?? 0);
  };
  const drink = async (text: string): Promise<void> => {
    const response = await fetch(`${server.url}/message:stream`, sendInit(text));
    for await (const _ of response.body ?? []);
  };
  const sends = async (): Promise<void> => {
    while (!isOver) await sendTask(server.url, 'chunks=3');
  };
  await drink('chunks=1000 size=1000'); // warms up the compiler
  const watching = watch();
  const others = Promise.all([sends(), sends()]);
  server.process.kill('SIGUSR2'); // starts the measurement
  for (let round = 0; round < 3; round += 1) await Promise.all([1, 2, 3, 4].map(() => drink('chunks=8000 size=1000')));
  server.process.kill('SIGUSR2'); // ends the measurement
  await server.said('loop ');
  isOver = true;
  await Promise.all([watching, others]);
  const {
    p50 = 0,
    p99 = Number.POSITIVE_INFINITY,
    max = 0,
  } = JSON.parse(
    server
      .lines()
      .find((line) => line.startsWith('loop '))
      ?.slice(5) ?? '',
  ) as Record<string, number>;
  const commits = await metric(server.url, 'parley_commits_total');
  await server.stop();
  process.stdout.write(
    `E9: loop late by ${p50} ms (median), ${p99} ms (p99), ${max} ms (most); ${commits} commits, WAL at most ${walBytes >> 20} MiB\n`,
  );
  return { p99, walBytes };
}
