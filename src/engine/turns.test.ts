import { describe, expect, it } from 'vitest';
import type { Agent, AgentOutput, Turn } from '#protocol';
import { A2AError } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  collect,
  ctx,
  doing,
  echo,
  gate,
  hanging,
  historyOf,
  quiet,
  reader,
  request,
  said,
  shortly,
  taskOf,
  textOf,
  toTask,
  wordsOf,
  world,
} from '../../test/support/engine.ts';

const yields = (...outputs: readonly AgentOutput[]): Agent =>
  agent(async function* () {
    yield* outputs;
  });

describe('what an agent yields', () => {
  const cases: readonly (readonly [string, readonly AgentOutput[], readonly string[]])[] = [
    ['nothing: it has completed', [], ['task WORKING', 'COMPLETED']],
    ['a status', [{ kind: 'status', message: said('busy') }], ['task WORKING', 'WORKING', 'COMPLETED']],
    [
      'text',
      [
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b', last: true },
      ],
      ['task WORKING', 'artifact response', 'artifact response', 'COMPLETED'],
    ],
    ['an artifact', [{ kind: 'artifact', parts: [{ text: 'a' }], id: 'x', name: 'X' }], ['task WORKING', 'artifact x', 'COMPLETED']],
    [
      'artifacts without names',
      [
        { kind: 'data', data: 1 },
        { kind: 'artifact', parts: [] },
      ],
      ['task WORKING', 'artifact artifact-1-1', 'artifact artifact-1-2', 'COMPLETED'],
    ],
    ['its own end', [{ kind: 'complete', message: said('done') }], ['task WORKING', 'COMPLETED']],
    ['a failure', [{ kind: 'fail', reason: said('no') }], ['task WORKING', 'FAILED']],
    ['a question', [ask('which?')], ['task WORKING', 'INPUT_REQUIRED']],
    ['a rejection', [{ kind: 'reject', reason: said('never') }], ['task WORKING', 'REJECTED']],
  ];
  for (const [what, outputs, events] of cases) {
    it(what, async () => {
      const { service } = await world(yields(...outputs));
      expect(shortly(await collect(service.stream(request('go'), ctx())))).toEqual(events);
    });
  }

  it('auth, and then ends: the task waits', async () => {
    const { service } = await world(yields({ kind: 'auth', request: said('log in') }));
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(wordsOf(task)).toBe('log in');
    const next = taskOf(await service.send(toTask(task, 'here'), ctx()));
    expect(next.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  it('auth, and goes on by itself when the credential came another way', async () => {
    const credential = gate();
    const { service } = await world(async function* () {
      yield { kind: 'auth', request: said('log in') };
      await credential.wait;
      yield { kind: 'text', text: 'in' };
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    credential.open();
    await quiet();
    const after = await service.get({ id: task.id }, ctx());
    expect([after.status.state, textOf(after)]).toEqual(['TASK_STATE_COMPLETED', 'in']);
  });

  it('says nothing after its last word that anybody hears', async () => {
    const { service } = await world(yields({ kind: 'complete' }, { kind: 'text', text: 'late' }, { kind: 'fail', reason: said('late') }));
    const task = taskOf(await service.send(request('go'), ctx()));
    await quiet();
    expect(await service.get({ id: task.id }, ctx())).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, generation: 2 });
  });

  it('keeps the members of an artifact, and appends to it by its id', async () => {
    const { service } = await world(
      yields(
        { kind: 'artifact', id: 'f', name: 'F', description: 'about', extensions: ['urn:x'], metadata: { a: 1 }, parts: [{ text: '1' }] },
        { kind: 'artifact', id: 'f', append: true, last: true, metadata: { b: 2 }, parts: [{ text: '2' }] },
        { kind: 'artifact', id: 'g', parts: [{ text: 'old' }] },
        { kind: 'artifact', id: 'g', parts: [{ text: 'new' }] },
      ),
    );
    const { artifacts } = taskOf(await service.send(request('go'), ctx()));
    expect(artifacts).toEqual([
      {
        artifactId: 'f',
        name: 'F',
        description: 'about',
        extensions: ['urn:x'],
        metadata: { a: 1, b: 2 },
        parts: [{ text: '1' }, { text: '2' }],
      },
      { artifactId: 'g', parts: [{ text: 'new' }] },
    ]);
  });
});

describe('a run that goes wrong', () => {
  it('fails the task with a reason that leaks nothing, and reports the cause', async () => {
    const { service, reports } = await world(async function* () {
      yield { kind: 'text', text: 'before' };
      throw new Error('password is hunter2');
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task), textOf(task)]).toEqual(['TASK_STATE_FAILED', 'The agent failed unexpectedly.', 'before']);
    expect(JSON.stringify(task)).not.toContain('hunter2');
    expect(reports.map(({ cause }) => String(cause))).toEqual(['Error: password is hunter2']);
  });

  it('fails with its own words if it throws an A2AError, and when run itself throws', async () => {
    const own = await world(() => {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'only cats');
    });
    expect(wordsOf(taskOf(await own.service.send(request('go'), ctx())))).toBe('only cats');
    const internal = await world(
      doing(() => {
        throw new A2AError('INTERNAL_ERROR', 'secret');
      }),
    );
    expect(wordsOf(taskOf(await internal.service.send(request('go'), ctx())))).toBe('The agent failed unexpectedly.');
  });

  it('can throw while it cleans up after its last word: that is reported, and changes nothing', async () => {
    const { service, reports } = await world(async function* () {
      try {
        yield ask('which?');
      } finally {
        await Promise.reject(new Error('cleaning up'));
      }
    });
    const task = taskOf(await service.send(request('go'), ctx()));
    await quiet();
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(reports).toHaveLength(1);
  });

  it('cannot break the rules: two questions at once are refused loudly, and the task fails', async () => {
    const { service } = await world(doing(({ ask: put }) => Promise.all([put(said('one?')), put(said('two?'))])));
    const task = taskOf(await service.send(request('go'), ctx()));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await quiet();
    const after = await service.get({ id: task.id }, ctx());
    expect([after.status.state, wordsOf(after)]).toEqual(['TASK_STATE_FAILED', 'a run can ask one question at a time']);
  });
});

describe('what an agent sees', () => {
  it('the message, what was said before it, the task, and who asks', async () => {
    const turns: Turn[] = [];
    const { service } = await world(async function* (turn) {
      turns.push(turn);
      yield { kind: 'text', text: `answer ${turns.length}` };
      yield ask(`question ${turns.length}`);
    });
    const first = taskOf(await service.send(request('one'), ctx()));
    await service.send(toTask(first, 'two'), ctx());
    expect(turns.map((turn) => turn.message.parts[0]?.text)).toEqual(['one', 'two']);
    expect(turns.map((turn) => turn.history.map(({ parts }) => parts[0]?.text))).toEqual([[], ['one', 'question 1']]);
    expect(turns[1]?.task.artifacts).toMatchObject([{ artifactId: 'response', parts: [{ text: 'answer 1' }] }]);
    expect(turns[1]).toMatchObject({ attempt: 1, principal: { id: 'alice' }, contextId: first.contextId });
    const task = await service.get({ id: first.id }, ctx());
    expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(['response', 'response-4']);
    expect(historyOf(task)).toEqual(['one', 'question 1', 'two']);
  });

  it('may wait until all that it said so far is durable', async () => {
    let commits = 0;
    const { service, engine } = await world(async function* ({ durable }) {
      yield { kind: 'text', text: 'a' };
      await durable();
      commits = engine.stats().commits;
    });
    await service.send(request('go'), ctx());
    expect(commits).toBe(1);
    expect(engine.stats().commits).toBe(2);
  });
});

describe('turn.ask', () => {
  const asking = agent(async function* ({ ask: put }) {
    const one = await put(said('first?'));
    yield { kind: 'text', text: `${one.parts[0]?.text},` };
    const two = await put(said('second?'));
    yield { kind: 'text', text: `${two.parts[0]?.text}` };
  });

  it('keeps the run alive: the next message is the answer', async () => {
    const { service, engine } = await world(asking);
    const task = taskOf(await service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'first?']);
    expect(engine.stats()).toMatchObject({ running: 0, asking: 1 });
    const next = taskOf(await service.send(toTask(task, 'A'), ctx()));
    expect([next.status.state, wordsOf(next)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'second?']);
    const last = taskOf(await service.send(toTask(task, 'B'), ctx()));
    expect([last.status.state, textOf(last)]).toEqual(['TASK_STATE_COMPLETED', 'A,B']);
    expect(historyOf(last)).toEqual(['go', 'first?', 'A', 'second?', 'B']);
    expect(engine.stats()).toMatchObject({ running: 0, asking: 0, liveTasks: 0 });
  });

  it('ends with the task: a cancel rejects it', async () => {
    let thrown: unknown;
    const { service } = await world(
      doing(async ({ ask: put }) => {
        thrown = await put(said('well?')).catch((reason: unknown) => reason);
      }),
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    await service.cancel({ id: task.id }, ctx());
    await quiet();
    expect(thrown).toMatchObject({ name: 'AbortError' });
  });

  it('is over when the turn is', async () => {
    let late: Turn['ask'] | undefined;
    const { service } = await world(
      doing((turn) => {
        late = turn.ask;
      }),
    );
    await service.send(request('go'), ctx());
    await expect(late?.(said('too late'))).rejects.toThrow();
  });
});

describe('messages to one task', () => {
  it('have their turns one after the other, in the order in which they came', async () => {
    const gates = [gate(), gate(), gate()];
    const begun: string[] = [];
    const { service } = await world(async function* ({ message }) {
      begun.push(message.parts[0]?.text ?? '');
      await gates[begun.length - 1]?.wait;
      yield { kind: 'text', text: `${message.parts[0]?.text} ` };
    });
    const first = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const second = service.send(toTask(first, 'b'), ctx());
    const third = service.send(toTask(first, 'c'), ctx());
    await quiet();
    expect(begun).toEqual(['a']);
    for (const each of gates) {
      each.open();
      await quiet();
    }
    expect(begun).toEqual(['a', 'b', 'c']);
    const task = taskOf(await third);
    expect(taskOf(await second).status.state).toBe('TASK_STATE_COMPLETED');
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'a b c ']);
    expect(historyOf(task)).toEqual(['a', 'b', 'c']);
  });

  it('answer each caller as the task stood when its own turn ended', async () => {
    const gates = [gate(), gate()];
    let turns = 0;
    const { service } = await world(async function* () {
      const turn = turns++;
      await gates[turn]?.wait;
      yield ask(`question ${turn}`);
    });
    const first = service.send(request('a'), ctx());
    await quiet();
    const [{ id = undefined } = {}] = (await service.list({}, ctx())).tasks;
    if (id === undefined) throw new Error('no task');
    const second = service.send({ message: { ...request('b').message, taskId: id } }, ctx());
    await quiet();
    gates[0]?.open();
    expect(wordsOf(taskOf(await first))).toBe('question 0');
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    gates[1]?.open();
    expect(wordsOf(taskOf(await second))).toBe('question 1');
  });

  it('that come too late for a task that ended are in its history, and get its end', async () => {
    const go = gate();
    const { service } = await world(async function* () {
      await go.wait;
      yield { kind: 'complete', message: said('all done') };
    });
    const first = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const second = service.send(toTask(first, 'b'), ctx());
    await quiet();
    go.open();
    expect(taskOf(await second)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    await expect(service.send(toTask(first, 'c'), ctx())).rejects.toMatchObject({ kind: 'TASK_FINISHED' });
  });

  it('are refused when too many wait', async () => {
    const { service } = await world(hanging, { limits: { queuedMessagesMax: 1 } });
    const task = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    await service.send({ ...toTask(task, 'b'), ...AT_ONCE }, ctx());
    const refused = { kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } };
    await expect(service.send({ ...toTask(task, 'c'), ...AT_ONCE }, ctx())).rejects.toMatchObject(refused);
    expect(historyOf(await service.get({ id: task.id }, ctx()))).toEqual(['a', 'b']);
  });
});

describe('the limits of a run', () => {
  it('lets so many run at once, and begins the others in their order', async () => {
    const doors = new Map<string, ReturnType<typeof gate<void>>>();
    const { service, engine } = await world(
      doing(({ message }) => {
        const door = gate();
        doors.set(message.parts[0]?.text ?? '', door);
        return door.wait;
      }),
      { limits: { runningTasksMax: 2, queuedTasksMax: 2 } },
    );
    const send = async (name: string) => taskOf(await service.send(request(name, AT_ONCE), ctx()));
    const sent = [await send('a'), await send('b'), await send('c'), await send('d')] as const;
    expect([...doors.keys()]).toEqual(['a', 'b']);
    expect(sent.map(({ status }) => status.state.slice(11))).toEqual(['WORKING', 'WORKING', 'SUBMITTED', 'SUBMITTED']);
    expect(engine.stats()).toMatchObject({ running: 2, queued: 2 });
    await expect(service.send(request('e', AT_ONCE), ctx())).rejects.toMatchObject({ kind: 'UNAVAILABLE' });
    expect((await service.list({}, ctx())).totalSize).toBe(4);
    await service.cancel({ id: sent[2].id }, ctx());
    expect(engine.stats()).toMatchObject({ running: 2, queued: 1 });
    doors.get('a')?.open();
    await quiet();
    expect([...doors.keys()]).toEqual(['a', 'b', 'd']);
    expect((await service.get({ id: sent[3].id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
  });

  it('stops a run that is silent for too long', async () => {
    const { service, time } = await world(hanging, { limits: { runIdleMsMax: 10_000 } });
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await time.advance(9000);
    expect((await service.get({ id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    await time.advance(3000);
    const failed = await service.get({ id }, ctx());
    expect([failed.status.state, wordsOf(failed)]).toEqual(['TASK_STATE_FAILED', 'The agent was silent for too long.']);
  });

  it('does not count the time in which it waits for its caller', async () => {
    const { service, time } = await world(
      async function* ({ ask: put }) {
        yield { kind: 'text', text: (await put(said('well?'))).parts[0]?.text ?? '' };
        await new Promise<void>((resolve) => time.timers.later(2000, resolve));
      },
      { limits: { runIdleMsMax: 10_000, runMsMax: 60_000 } },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    await time.advance(3_600_000);
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = service.send(toTask(task, 'here'), ctx());
    await time.advance(5000);
    expect(taskOf(await answered)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('counts the total time of a run that keeps talking', async () => {
    const { service, time } = await world(
      async function* ({ signal }) {
        while (!signal.aborted) {
          yield { kind: 'status' };
          await new Promise<void>((resolve) => time.timers.later(1000, resolve));
        }
      },
      { limits: { runMsMax: 20_000, runIdleMsMax: 5000 } },
    );
    const task = taskOf(await service.send(request('go', AT_ONCE), ctx()));
    await time.advance(19_000);
    expect((await service.get({ id: task.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    await time.advance(3000);
    expect(wordsOf(await service.get({ id: task.id }, ctx()))).toBe('The agent took too long.');
  });

  it('gives the place of an agent that does not listen to another, and says so', async () => {
    const { service, time, engine, reports } = await world(hanging, { limits: { runningTasksMax: 1, runGraceMs: 5000 } });
    const stuck = taskOf(await service.send(request('a', AT_ONCE), ctx()));
    const next = taskOf(await service.send(request('b', AT_ONCE), ctx()));
    await service.cancel({ id: stuck.id }, ctx());
    expect(engine.stats()).toMatchObject({ running: 1, queued: 1 });
    await time.advance(7000);
    expect(engine.stats()).toMatchObject({ running: 1, queued: 0 });
    expect((await service.get({ id: next.id }, ctx())).status.state).toBe('TASK_STATE_WORKING');
    expect(reports.map(({ what }) => what)).toEqual(['agent agent was stopped and does not end']);
  });

  it('does not let a run that is done and does not end hold up the next message', async () => {
    let turns = 0;
    const { service, time, engine, reports } = await world(
      async function* () {
        turns += 1;
        try {
          yield ask(`question ${turns}`);
        } finally {
          if (turns === 1) await new Promise(() => {});
        }
      },
      { limits: { runGraceMs: 5000 } },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    const next = service.send(toTask(task, 'next'), ctx());
    await time.advance(4000);
    expect([turns, engine.stats().running]).toEqual([1, 1]);
    await time.advance(4000);
    expect(wordsOf(taskOf(await next))).toBe('question 2');
    await quiet();
    expect(engine.stats()).toMatchObject({ running: 0, liveTasks: 0 });
    expect(reports.map(({ what }) => what)).toEqual(['agent agent is done and does not end']);
  });

  it('ends a task that has too many events or bytes, and never the end itself', async () => {
    const many = await world(
      async function* () {
        for (let at = 0; at < 100; at += 1) yield { kind: 'text', text: `${at}` };
      },
      { limits: { taskEventsMax: 10 } },
    );
    const task = taskOf(await many.service.send(request('go'), ctx()));
    expect([task.status.state, wordsOf(task), task.generation]).toEqual([
      'TASK_STATE_FAILED',
      'the task has 10 events, which is the most',
      11,
    ]);
    const large = await world(
      async function* () {
        for (;;) yield { kind: 'artifact', parts: [{ text: 'x'.repeat(400) }] };
      },
      { limits: { taskBytesMax: 2000 } },
    );
    const big = taskOf(await large.service.send(request('go'), ctx()));
    expect([big.status.state, wordsOf(big), textOf(big).length]).toEqual([
      'TASK_STATE_FAILED',
      'the task would hold more than 2000 bytes',
      1600,
    ]);
    const artifact = await world(
      async function* () {
        for (;;) yield { kind: 'text', text: 'x'.repeat(400) };
      },
      { limits: { artifactBytesMax: 1000 } },
    );
    const heavy = taskOf(await artifact.service.send(request('go'), ctx()));
    expect([heavy.status.state, wordsOf(heavy), textOf(heavy).length]).toEqual([
      'TASK_STATE_FAILED',
      'artifact response would hold more than 1000 bytes',
      800,
    ]);
  });

  it('fails a run whose question does not fit any more, rather than let it wait unheard', async () => {
    const { service } = await world(
      async function* () {
        yield { kind: 'status' };
        yield ask('room?');
      },
      { limits: { taskEventsMax: 2 } },
    );
    expect(taskOf(await service.send(request('go'), ctx())).status.state).toBe('TASK_STATE_FAILED');
  });

  it('takes no further message into a task that is full', async () => {
    const { service } = await world(
      async function* () {
        yield ask('more?');
      },
      { limits: { taskEventsMax: 2 } },
    );
    const task = taskOf(await service.send(request('go'), ctx()));
    await expect(service.send(toTask(task, 'more'), ctx())).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
  });
});

describe('cancel', () => {
  it('ends the task at once, tells the agent, and hears it no more', async () => {
    let reason: unknown;
    const { service } = await world(async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reason = signal.reason;
      yield { kind: 'text', text: 'too late' };
    });
    const stream = reader(service.stream(request('go'), ctx()));
    await quiet(20);
    const [{ id = undefined } = {}] = (await service.list({}, ctx())).tasks;
    if (id === undefined) throw new Error('no task');
    const canceled = await service.cancel({ id }, ctx());
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    await quiet();
    expect(reason).toMatchObject({ name: 'AbortError' });
    expect(await service.cancel({ id }, ctx())).toEqual(canceled);
    await stream.done;
  });

  it('is refused for a task that ended otherwise', async () => {
    const { service } = await world(echo);
    const task = taskOf(await service.send(request('go'), ctx()));
    await expect(service.cancel({ id: task.id }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_CANCELABLE' });
  });
});
