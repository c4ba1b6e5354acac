import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent, statusOf, taskOf } from '../fake-agent.ts';
import { begun, fieldOf, jsonOf, linesOf, run, start } from '../run.ts';
import { verifies } from './requirements.ts';

let script: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

describe('task get', () => {
  verifies('A2ACLI_TASK_GET_001', 'shows state, artifacts and history, and prints the Task unchanged as JSON', async () => {
    const task = taskOf('COMPLETED', {
      artifacts: [{ artifactId: 'a', parts: [{ text: 'made' }], 'x-own': true }],
      history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'asked' }] }],
      'x-unknown': { kept: [1, 2] },
    });
    const agent = await fakeAgent({ on: { GetTask: () => ({ result: task }) } });
    expect(jsonOf(await run(['task', 'get', '-a', agent.url, 't-1', '-o', 'json']))).toEqual(task);
    const shown = await run(['task', 'get', '-a', agent.url, 't-1', '--history', '5']);
    expect(shown.out).toMatch(/State: COMPLETED\nArtifact: a\nText:\nmade\n\nHistory: user\nText:\nasked\n/);
    expect((await run(['task', 'get', '-a', agent.url, 't-1'])).out).not.toContain('asked');
    expect(agent.calls('GetTask').map(({ params }) => params['historyLength'])).toEqual([undefined, 5, undefined]);
    await agent.close();
  });

  verifies('A2ACLI_TASK_POLL_001', 'reads once, and with --wait until the end', async () => {
    let asked = 0;
    const agent = await fakeAgent({
      on: {
        GetTask: () => {
          asked += 1;
          return { result: taskOf(asked < 5 ? 'WORKING' : 'COMPLETED') };
        },
      },
    });
    expect(fieldOf(await run(['task', 'get', '-a', agent.url, 't-1']), 'State')).toBe('WORKING');
    expect(asked).toBe(1);
    expect(fieldOf(await run(['task', 'get', '-a', agent.url, 't-1', '--wait', '--poll-interval', '200ms']), 'State')).toBe('COMPLETED');
    expect(asked).toBe(5);
    await agent.close();
  });

  verifies('A2ACLI_TASK_POLL_002', 'respects interval and timeout, is idle in between, and handles Ctrl-C', async () => {
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('WORKING') } }), GetTask: () => ({ result: taskOf('WORKING') }) },
    });
    const wait = ['task', 'get', '-a', agent.url, 't-1', '--wait', '--timeout', '2.5s', '-o', 'json'];
    const late = await run([...wait, '--poll-interval', '1h']);
    expect(late.code).toBe(5);
    expect(jsonOf(late)).toMatchObject({ error: { code: 'A2ACLI_ERR_TIMEOUT' } });
    expect(agent.calls('GetTask')).toHaveLength(1);
    const polling = start([...wait, '--timeout', '5m', '--poll-interval', '50ms']);
    await eventually(() => agent.calls('GetTask').length > 4);
    polling.child.kill('SIGINT');
    await polling.ended;
    const waiting = start(['send', '-a', agent.url, 'hi']);
    await waiting.until(/waiting for task t-1 \(context c-1\)/, 'err');
    waiting.child.kill('SIGINT');
    const { code, err, out } = await waiting.ended;
    expect(code).not.toBe(0);
    expect(out).toBe('');
    expect(err).toContain('t-1');
    await agent.close();
  });

  verifies('A2ACLI_TASK_POLL_003', 'stops waiting at an interrupted state, but not at UNSPECIFIED', async () => {
    for (const state of ['INPUT_REQUIRED', 'AUTH_REQUIRED']) {
      const agent = await fakeAgent({ on: { GetTask: () => ({ result: taskOf(state) }) } });
      const { code, out, err } = await run(['task', 'get', '-a', agent.url, 't-1', '--wait']);
      expect([code, agent.calls('GetTask').length]).toEqual([0, 1]);
      expect(out).toMatch(new RegExp(`State: ${state}\nResume: parley send .* --task-id t-1`));
      expect(err).toContain(`(${state})`);
      await agent.close();
    }
    const odd = await fakeAgent({ on: { GetTask: () => ({ result: taskOf('UNSPECIFIED') }) } });
    expect(fieldOf(await run(['task', 'get', '-a', odd.url, 't-1']), 'State')).toBe('UNSPECIFIED');
    expect((await run(['task', 'get', '-a', odd.url, 't-1', '--wait', '--poll-interval', '100ms', '--timeout', '2s'])).code).toBe(5);
    expect(odd.calls('GetTask').length).toBeGreaterThan(2);
    await odd.close();
  });
});

describe('task cancel', () => {
  verifies('A2ACLI_TASK_CANCEL_001', 'cancels, also twice, and prints the state; a finished task is an error', async () => {
    const { task } = await begun(script.url, 'sleep=60000');
    const first = await run(['task', 'cancel', '-a', script.url, task]);
    expect([first.code, fieldOf(first, 'State')]).toEqual([0, 'CANCELED']);
    const second = await run(['task', 'cancel', '-a', script.url, task, '-o', 'json']);
    expect(second.code).toBe(0);
    expect(jsonOf(second)).toMatchObject({ id: task, status: { state: 'TASK_STATE_CANCELED' } });
    const done = await run(['send', '-a', script.url, 'hello']);
    const refused = await run(['task', 'cancel', '-a', script.url, fieldOf(done, 'Task') ?? '', '-o', 'json']);
    expect([refused.code, jsonOf(refused)]).toMatchObject([1, { error: { code: 'TaskNotCancelableError', a2aCode: -32002 } }]);
  });
});

describe('task list', () => {
  verifies('A2ACLI_TASK_LIST_001', 'pages by cursor, filters by state and context', async () => {
    const { context } = await begun(script.url, 'ask');
    for (const text of ['hello', 'hello']) await run(['send', '-a', script.url, '--context-id', context, text]);
    const page = jsonOf<{ tasks: object[]; nextPageToken: string; totalSize: number }>(
      await run(['task', 'list', '-a', script.url, '--context-id', context, '--page-size', '2', '-o', 'json']),
    );
    expect([page.tasks.length, page.totalSize]).toEqual([2, 3]);
    const rest = jsonOf<{ tasks: object[]; nextPageToken: string }>(
      await run([
        'task',
        'list',
        '-a',
        script.url,
        '--context-id',
        context,
        '--page-size',
        '2',
        '--page-token',
        page.nextPageToken,
        '-o',
        'json',
      ]),
    );
    expect([rest.tasks.length, rest.nextPageToken]).toEqual([1, '']);
    const waiting = await run([
      'task',
      'list',
      '-a',
      script.url,
      '--context',
      context,
      '--status',
      'input-required',
      '-o',
      'json',
      '--stream',
    ]);
    expect(linesOf(waiting)).toMatchObject([{ status: { state: 'TASK_STATE_INPUT_REQUIRED' } }]);
    const all = await run(['task', 'list', '-a', script.url, '--context', context, '--limit', '1', '--all']);
    expect(all.out.match(/^Task: /gm)).toHaveLength(3);
    const typo = await run(['task', 'list', '-a', script.url, '--status', 'workin']);
    expect([typo.code, typo.err]).toEqual([2, expect.stringContaining('did you mean WORKING?')]);
  });
});

describe('task subscribe', () => {
  verifies('A2ACLI_TASK_SUBSCRIBE_001', 'follows a running task to its end', async () => {
    const { task } = await begun(script.url, 'chunks=3 delay=6000');
    const events = linesOf(await run(['task', 'subscribe', '-a', script.url, task, '--stream', '-o', 'json']));
    expect(events[0]).toHaveProperty('task.id', task);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const agent = await fakeAgent({
      on: {
        SubscribeToTask: () => ({ frames: [{ task: taskOf('WORKING') }, statusOf('COMPLETED')] }),
        GetTask: () => ({ result: taskOf('COMPLETED') }),
      },
    });
    expect(jsonOf(await run(['task', 'subscribe', '-a', agent.url, 't-1', '-o', 'json']))).toEqual(taskOf('COMPLETED'));
    await agent.close();
  });

  verifies('A2ACLI_TASK_SUBSCRIBE_002', 'subscribes again after a cut, without reading the task', async () => {
    let times = 0;
    const agent = await fakeAgent({
      on: {
        SubscribeToTask: () => {
          times += 1;
          if (times === 1) return { frames: [{ task: taskOf('WORKING') }], cut: true };
          return { frames: [{ task: taskOf('WORKING') }, statusOf('COMPLETED')] };
        },
      },
    });
    const events = linesOf(await run(['task', 'subscribe', '-a', agent.url, 't-1', '--stream', '-o', 'json']));
    expect(events.map((event) => Object.keys(event)[0])).toEqual(['task', 'task', 'statusUpdate']);
    expect(agent.calls('GetTask')).toHaveLength(0);
    await agent.close();
  });
});

describe('task subscribe to a finished task', () => {
  const refused = { error: { code: -32602, message: 'Task t-1 is in terminal state: canceled' } };
  it.each([
    ['at once', [refused]],
    ['after an empty stream', [{ frames: [] }, refused]],
  ])('reads the task if the agent refuses the subscription with -32602, %s', async (_, replies) => {
    let at = 0;
    const agent = await fakeAgent({
      on: {
        SubscribeToTask: () => replies[at++] ?? refused,
        GetTask: () => ({ result: taskOf('CANCELED') }),
      },
    });
    const ran = await run(['task', 'subscribe', '-a', agent.url, 't-1', '-o', 'json']);
    expect([ran.code, jsonOf(ran)]).toEqual([0, taskOf('CANCELED')]);
    await agent.close();
  });
});

describe('task download', () => {
  verifies('A2ACLI_DOWNLOAD_001', 'writes every part under a safe name, and overwrites nothing without --force', async () => {
    const artifacts = [
      { artifactId: 'report', name: 'report', parts: [{ text: 'one ' }, { text: 'two' }, { data: { n: 1 } }] },
      { artifactId: 'f', parts: [{ raw: 'aGVsbG8=', filename: '../../etc/passwd' }, { url: 'https://files.example/y.png' }] },
    ];
    const agent = await fakeAgent({ on: { GetTask: () => ({ result: taskOf('COMPLETED', { artifacts }) }) } });
    const out = join(folder, 'out');
    const args = ['task', 'download', '-a', agent.url, 't-1', '--dir', out];
    const first = await run([...args, '-o', 'json']);
    const { files } = jsonOf<{ files: { path: string; bytes: number }[] }>(first);
    expect(files.map(({ path, bytes }) => [path, bytes])).toEqual([
      [join(out, 'report.txt'), 7],
      [join(out, 'report-2.json'), 13],
      [join(out, 'passwd'), 5],
    ]);
    expect(readFileSync(join(out, 'report.txt'), 'utf8')).toBe('one two');
    expect(first.err).toContain('--fetch');
    expect(existsSync(join(folder, 'etc'))).toBe(false);
    writeFileSync(join(out, 'passwd'), 'mine');
    const again = await run(args);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('--force')]);
    expect((await run([...args, '--force', '--artifact', 'f'])).out).toContain(
      `File: ${join(out, 'passwd')} (application/octet-stream, 5 bytes)`,
    );
    await agent.close();
  });
});
