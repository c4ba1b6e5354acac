import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { getTask, sendTask, textOf } from '../faults/client.ts';
import { eventually } from '../support/eventually.ts';
import { parleyServe } from '../support/parley.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-stray-'));
afterAll(() => rmSync(folder, { recursive: true }));

const AGENTS = fileURLToPath(new URL('../../src/agents/index.ts', import.meta.url));
const file = join(folder, 'careless.ts');
writeFileSync(
  file,
  `import { defineAgent } from ${JSON.stringify(AGENTS)};
setInterval(() => {}, 1000); // must not keep the process alive
export default defineAgent({
  name: 'careless', description: 'Lets errors get away.', recovery: 'retry',
  async *run(turn) {
    if (turn.text === 'promise') {
      Promise.reject(new Error('stray one'));
      (async () => { await 1; throw new Error('stray two'); })();
    }
    if (turn.text === 'timer') {
      setTimeout(() => { throw new Error('thrown in a timer'); }, 20);
      yield 'before ';
      await new Promise(() => {});
    }
    yield 'ok';
  },
});
`,
);

interface Line {
  readonly level: string;
  readonly message: string;
  readonly agent?: string;
  readonly task?: string;
  readonly cause?: { readonly message: string };
}

function errorsIn(text: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Line).filter(({ level }) => level === 'error');
}

describe('errors that an agent leaves uncaught', () => {
  it('a rejected promise is logged with its agent, and the node continues', async () => {
    const server = await parleyServe({ args: ['script', file, '--memory'] });
    const work = sendTask(server.url, 'chunks=4 delay=300');
    const careless = await sendTask(`${server.url}/agents/careless`, 'promise');
    expect(textOf(careless)).toBe('ok');
    expect(textOf(await work)).toContain('chunk 4');
    await eventually(() => errorsIn(server.errors()).length === 2);
    for (const [at, words] of ['stray one', 'stray two'].entries()) {
      expect(errorsIn(server.errors())[at]).toMatchObject({ agent: 'careless', task: careless.id, cause: { message: words } });
    }
    expect(await server.stop()).toBe(0);
  });

  it('an exception fails its task and stops the node; other tasks survive', async () => {
    const data = join(folder, 'data');
    const server = await parleyServe({ args: ['script', file, '--data', data, '--limit', 'drainMsMax=4000'] });
    const [work, long] = await Promise.all([
      sendTask(server.url, 'chunks=4 delay=300', { returnImmediately: true }),
      sendTask(server.url, 'chunks=1 sleep=60000', { returnImmediately: true }),
    ]);
    const careless = await sendTask(`${server.url}/agents/careless`, 'timer', { returnImmediately: true });
    expect(await server.ended).toEqual({ code: 1, signal: null });
    const [line, ...more] = errorsIn(server.errors()).filter(({ message }) => message.includes('nothing caught'));
    expect(line).toMatchObject({ agent: 'careless', task: careless.id, cause: { message: 'thrown in a timer' } });
    expect(more).toEqual([]);
    expect(server.lines().at(-1)).toBe('{"event":"stopped"}');

    const next = await parleyServe({ args: ['script', file, '--data', data] });
    expect((await getTask(next.url, work.id)).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await getTask(next.url, long.id)).status.state).toBe('TASK_STATE_WORKING');
    expect((await getTask(`${next.url}/agents/careless`, careless.id)).status.state).toBe('TASK_STATE_FAILED');
    await next.kill();
  });
});
