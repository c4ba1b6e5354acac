import { mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCommandAgent } from '#agents';
import type { JsonObject, TaskId } from '#protocol';
import { claude } from '../../src/agents/coding/claude.ts';
import { codexExec } from '../../src/agents/coding/codex-exec.ts';
import { copilot } from '../../src/agents/coding/copilot.ts';
import { cursor } from '../../src/agents/coding/cursor.ts';
import { gemini } from '../../src/agents/coding/gemini.ts';
import { opencode } from '../../src/agents/coding/opencode.ts';
import { vibe } from '../../src/agents/coding/vibe.ts';
import { readLine } from '../../src/agents/command/ndjson.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { statusText, talkTo } from '../support/talk.ts';
import { startChild } from './parley.ts';
import { times } from './size.ts';

const folder = realpathSync(scratchFolder());
const isLinux = process.platform === 'linux';
const MIB = 2 ** 20;
/** A fraction that makes the sleeping programs of this run differ from those of another run on the same machine. */
const TAG = `.${process.pid}`;

function commandLines(): readonly { readonly pid: number; readonly line: string; readonly stat: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        return [{ pid: Number(name), line, stat: readFileSync(`/proc/${name}/stat`, 'latin1') }];
      } catch {
        return [];
      }
    });
}

/** Processes with this command line. */
const running = (line: string): number => commandLines().filter((each) => each.line === line).length;

/** The state of the process with this command line, and the bytes that it has written. */
function written(line: string): string {
  const { pid, stat } = commandLines().find((each) => each.line === line) ?? { pid: 0, stat: '' };
  return `${stat.slice(stat.lastIndexOf(')') + 2)[0]} ${/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1]}`;
}

const agentOf = (script: string, more = {}) =>
  createCommandAgent(
    { argv: ['sh', '-c', script] },
    { cwd: folder, state: join(folder, 'state'), sandbox: 'plain', concurrency: 100, ...more },
  );

describe('C1: a program that hangs', () => {
  it('is killed after its idle timeout although it ignores SIGTERM, and the task has the reason', async () => {
    const talk = await talkTo(agentOf(`trap "" TERM; echo up; sleep 4731${TAG} & wait`, { defaults: { idleMs: 500 } }));
    const began = performance.now();
    const task = await talk.task('go');
    await talk.stop();
    expect(statusText(task)).toBe('The agent was silent for 500 ms.');
    expectFigure(performance.now() - began, { below: 8000 });
    await eventually(() => running(`sleep 4731${TAG}`) === 0);
  });
});

suiteNeeding('Linux', isLinux, 'C2, C3: a cancel of programs that start others', () => {
  const runs = times(10, 1000);
  const script = `trap "" TERM; (setsid sh -c "trap \\"\\" TERM; sleep 4741${TAG}" > /dev/null 2>&1 &); sleep 4742${TAG} & echo up; wait`;

  it(`leaves no process and no zombie of ${runs} runs`, { timeout: 1_800_000 }, async () => {
    let slowest = 0;
    const places = 5;
    // Each run has its own folder, because runs in one folder wait for each other.
    const talks = await Promise.all(
      Array.from({ length: places }, (_, at) =>
        talkTo(createCommandAgent({ argv: ['sh', '-c', script] }, { cwd: folder, state: join(folder, `c2-${at}`), sandbox: 'plain' })),
      ),
    );
    for (let done = 0; done < runs; done += places) {
      const ids = await Promise.all(talks.map(async (talk) => (await talk.begin('go')).task?.id as TaskId));
      await eventually(() => running(`sleep 4741${TAG}`) === places && running(`sleep 4742${TAG}`) === places);
      await Promise.all(
        talks.map(async (talk, at) => {
          const began = performance.now();
          expect((await talk.cancel(ids[at] as TaskId)).status.state).toBe('TASK_STATE_CANCELED');
          slowest = Math.max(slowest, performance.now() - began);
        }),
      );
      await eventually(() => running(`sleep 4741${TAG}`) + running(`sleep 4742${TAG}`) === 0);
    }
    await Promise.all(talks.map((talk) => talk.stop()));
    process.stdout.write(`C2: ${runs} cancels, answered within ${slowest.toFixed(0)} ms, 0 processes left\n`);
    // Only the shells of this test: other test files run in the same process, and leave children of their own.
    await eventually(() => !commandLines().some(({ stat }) => stat.includes(`(sh) Z ${process.pid} `)));
  });
});

suiteNeeding('root and setpriv', isLinux && process.getuid?.() === 0, 'C4: a fork bomb', () => {
  it('is stopped by the process limit, and other callers are served meanwhile', async () => {
    const bomb = `i=0; while [ $i -lt 300 ]; do sleep 4751${TAG} & i=$((i+1)); done; echo "forked $(jobs | wc -l)"; wait`;
    const argv = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'sh', '-c', bomb];
    const limits = { processesMax: 60 };
    const talk = await talkTo(
      createCommandAgent({ argv }, { cwd: '/', state: join(folder, 'c4'), sandbox: 'limits', limits, defaults: { idleMs: 1500 } }),
    );
    let [isOver, most] = [false, 0];
    const bombed = talk.task('go').finally(() => {
      isOver = true;
    });
    const watched = eventually(() => {
      most = Math.max(most, running(`sleep 4751${TAG}`));
      return isOver;
    });
    await eventually(() => most > 0);
    const began = performance.now();
    const other = await talkTo(agentOf('cat'));
    await other.task('still here?');
    const tookMs = performance.now() - began;
    await Promise.all([bombed, watched]);
    await talk.stop();
    await other.stop();
    expect(most).toBeLessThanOrEqual(60);
    expectFigure(tookMs, { below: 2000 });
    await eventually(() => running(`sleep 4751${TAG}`) === 0);
  });
});

describe('C5, C6: endless output', () => {
  const bytes = times(256, 10_240) * MIB;

  it(`of ${bytes / MIB} MiB takes less than 64 MiB of memory, and output beyond the quota is counted`, { timeout: 600_000 }, async () => {
    const child = startChild('runner', [folder, 'drain', 'text', 'sh', '-c', `yes | head -c ${bytes}`], ['env', 'QUOTA=1048576']);
    await child.ended;
    const grew = Number(
      child
        .lines()
        .find((line) => line.startsWith('grew '))
        ?.slice(5),
    );
    process.stdout.write(`C5: ${bytes / MIB} MiB of output, ${grew} MiB of memory\n`);
    expect(child.lines()).toContain('TASK_STATE_COMPLETED');
    expect(child.lines().join('\n')).toContain(`"charactersLeftOut":${bytes - MIB}`);
    expectFigure(grew, { below: 64 });
  });

  it('in one line is left out with a note, and the next line is read', { timeout: 300_000 }, async () => {
    const line = times(64, 600) * MIB;
    const script = `printf '{"text":"before"}\\n'; head -c ${line} /dev/zero | tr '\\0' x; printf '\\n{"text":"after"}\\n'`;
    const child = startChild('runner', [folder, 'drain', 'ndjson', 'sh', '-c', script]);
    await child.ended;
    const said = child.lines().join('\n');
    expect(said).toContain(`A line of ${line} bytes was too long`);
    expect(said).toContain('"summary":"beforeafter"');
    // The longest kept line has 8 MiB, and its bytes are in memory more than once for a moment.
    expectFigure(Number(/grew (\d+)/.exec(said)?.[1]), { below: 128 });
  });
});

suiteNeeding('Linux', isLinux, 'C5: output that is not read', () => {
  it('makes the program wait while its reader is busy', async () => {
    const talk = await talkTo(
      createCommandAgent(
        { argv: ['sh', '-c', 'read x; echo "Go on? [y/N]"; exec yes c5'], approvePattern: /\[y\/N\]/ },
        { cwd: folder, state: join(folder, 'c5b'), sandbox: 'plain' },
      ),
    );
    const waiting = await talk.task('go');
    expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    // It is asleep in one and the same write for as long as we look, and has not written much.
    let [before, same] = ['', 0];
    await eventually(() => {
      const now = written('yes c5');
      same = now === before && now.startsWith('S ') ? same + 1 : 0;
      before = now;
      return same > 20;
    });
    expect(Number(before.slice(2))).toBeLessThan(64 * MIB);
    await talk.cancel(waiting.id);
    await talk.stop();
  });
});

describe('C8: malformed output lines', () => {
  const readers = [claude, codexExec, copilot, cursor, gemini, opencode, vibe];
  const TYPES = [
    'system',
    'assistant',
    'user',
    'result',
    'stream_event',
    'control_request',
    'item.completed',
    'message',
    'tool_use',
    'tool_result',
    'error',
    'init',
    'tool_call',
    'text',
    'done',
  ];
  const line = fc.record(
    {
      type: fc.constantFrom(...TYPES),
      role: fc.constantFrom('assistant', 'tool'),
      message: fc.jsonValue(),
      item: fc.jsonValue(),
      part: fc.jsonValue(),
      data: fc.jsonValue(),
      event: fc.jsonValue(),
      request: fc.jsonValue(),
      tool_call: fc.jsonValue(),
      content: fc.jsonValue(),
      stats: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  it('become only notes, or are ignored', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        for (const { reader } of readers) {
          const read = reader({ job: undefined as never, send: () => undefined });
          for (const each of lines) for (const event of read(each as unknown as JsonObject)) expect(typeof event.kind).toBe('string');
        }
        for (const each of lines) readLine(JSON.stringify(each), undefined);
      }),
      { numRuns: times(300, 10_000) },
    );
  });

  it('do not replace the first result', async () => {
    const ends = ['{"type":"result","result":"one"}', '{"type":"error","message":"late"}', '{"type":"result","result":"two"}'];
    const talk = await talkTo(agentOf(`printf '%s\\n' '${ends.join("' '")}'`));
    const task = await talk.task('go');
    await talk.stop();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(task.artifacts)).toContain('"summary":"one"');
  });
});

suiteNeeding('Linux', isLinux, 'C11, E3: a server that is killed', () => {
  const kills = times(3, 100);

  it(`${kills} times leaves no program after its next start`, { timeout: 1_200_000 }, async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      const state = join(folder, 'c11');
      mkdirSync(state, { recursive: true });
      const server = startChild('runner', [
        state,
        'run',
        'text',
        'sh',
        '-c',
        `(setsid sleep 4761${TAG} > /dev/null 2>&1 &); sleep 4762${TAG} & echo up; wait`,
      ]);
      // At any moment, also between the start of the program and its record.
      await Promise.race([server.said('up'), new Promise((resolve) => setTimeout(resolve, kill % 2 === 0 ? 60_000 : 600 + 20 * kill))]);
      server.process.kill('SIGKILL');
      await server.ended;
      const next = startChild('runner', [state, 'reap', 'text', 'true']);
      await next.said('reaped');
      await next.ended;
      await eventually(() => running(`sleep 4761${TAG}`) + running(`sleep 4762${TAG}`) === 0);
    }
  });
});
