import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { suiteNeeding } from '../support/needs.ts';
import { isInstalled } from '../support/tmpfs.ts';
import { getTask, sendInit, sendTask } from './client.ts';
import { startParley } from './parley.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-e4-'));
afterAll(() => rmSync(folder, { recursive: true }));

const UNFINISHED = ' <unfinished ...>';

suiteNeeding('strace', isInstalled('strace'), 'E4: the server', () => {
  it('syncs the WAL before it writes the response of a send', async () => {
    const trace = join(folder, 'trace');
    const calls = 'trace=pwrite64,write,writev,fsync,fdatasync';
    const server = await startParley({
      data: join(folder, 'e4'),
      before: ['strace', '-D', '-f', '-y', '-s', '16', '-o', trace, '-e', calls],
    });
    for (let send = 0; send < 20; send += 1) await sendTask(server.url, 'chunks=3');
    await server.stop();
    let isDirty = false;
    let [answers, syncs] = [0, 0];
    // strace splits a call into two lines if another thread made a call meanwhile.
    const begun = new Map<string, string>();
    for (const line of readFileSync(trace, 'utf8').split('\n')) {
      const [thread = ''] = line.split(' ', 1);
      if (line.endsWith(UNFINISHED)) begun.set(thread, line.slice(0, -UNFINISHED.length));
      const whole = line.replace(/^\d+ +<\.\.\. \w+ resumed>/, () => begun.get(thread) ?? '');
      if (/pwrite64\(\d+<[^>]*-wal>/.test(line) && !/, 1048576, \d+/.test(line)) isDirty = true;
      if (/f(data)?sync\(\d+<[^>]*-wal>\)\s+= 0/.test(whole)) {
        isDirty = false;
        syncs += 1;
      }
      if (!/writev?\(\d+<(?:TCP|socket).*"HTTP\/1\.1 200/.test(line)) continue;
      expect(isDirty, line).toBe(false);
      answers += 1;
    }
    expect(answers).toBe(20);
    expect(syncs).toBeGreaterThanOrEqual(20);
  });
});

suiteNeeding('strace', isInstalled('strace'), 'E5: a failing fsync', () => {
  it('ends the server with an error; it acknowledges nothing more, and the next server has all that was acknowledged', async () => {
    const data = join(folder, 'e5');
    const inject = ['fsync', 'fdatasync'].flatMap((call) => ['-e', `inject=${call}:error=EIO:when=45+`]);
    const server = await startParley({
      data,
      before: ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', ...inject],
    });
    const kept: string[] = [];
    const refusals: (number | string)[] = [];
    while (refusals.length < 5) {
      const response = await fetch(`${server.url}/message:send`, sendInit('chunks=2')).catch((thrown: unknown) => thrown);
      if (!(response instanceof Response)) refusals.push('gone');
      else if (response.status === 200) {
        expect(refusals).toEqual([]);
        kept.push(((await response.json()) as { task: { id: string } }).task.id);
      } else refusals.push(response.status);
    }
    // A caller that gets a response is asked to retry; other callers can't connect.
    expect(refusals.every((each) => each === 503 || each === 'gone')).toBe(true);
    const { code } = await server.ended;
    expect(code).toBe(1);
    expect(kept.length).toBeGreaterThan(5);
    const next = await startParley({ data });
    for (const id of kept) expect((await getTask(next.url, id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect(await next.stop()).toBe(0);
  });
});
