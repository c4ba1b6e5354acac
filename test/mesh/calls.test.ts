import { afterEach, expect, it } from 'vitest';
import { joinMesh } from '#mesh';
import type { A2AService, Logged, Task } from '#protocol';
import { createUserMessage, foldEvent } from '#protocol';
import { callContext, NAMESPACE, onEveryBroker, type Start, serveOn } from './support.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function linked(start: Start, agent = 'script'): Promise<{ link: A2AService; close: () => Promise<void> }> {
  const ground = await start();
  open.push(() => ground.stop());
  const served = await serveOn(await ground.connect(), ['script', 'echo']);
  open.push(() => served.close());
  const mesh = joinMesh({ broker: await ground.connect(), namespace: NAMESPACE });
  open.push(() => mesh.close());
  const caller = await mesh.call({ kind: 'gateway', id: 'gw_test' });
  return { link: caller.link({ agent }), close: caller.close };
}

const request = (text: string) => ({ message: createUserMessage(text) });
const textOf = (task: Task | undefined): string =>
  (task?.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text ?? '')).join('');
async function collect(stream: AsyncIterable<readonly Logged[]>): Promise<readonly Logged[]> {
  const all: Logged[] = [];
  for await (const batch of stream) all.push(...batch);
  return all;
}

onEveryBroker('a call over the mesh', (start) => {
  it('returns the finished task', async () => {
    const { link } = await linked(start, 'echo');
    const { task } = await link.send(request('hello'), callContext());
    expect([task?.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'hello']);
  });

  it('streams every chunk once, in order', async () => {
    const { link } = await linked(start);
    const events = await collect(link.stream(request('chunks=50'), callContext()));
    const chunks = events.flatMap(({ event }) => event.artifactUpdate?.artifact.parts.map(({ text }) => text) ?? []);
    expect(chunks.length).toBe(50);
    const task = events.reduce<Task | undefined>((before, { event }) => foldEvent(before, event), undefined);
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(events[0]?.event.task?.status.state).toBe('TASK_STATE_WORKING');
  });

  it('gets one message as its response once the agent is known to be Parley’s', async () => {
    const ground = await start();
    open.push(() => ground.stop());
    const broker = await ground.connect();
    const topics: string[] = [];
    const publish: typeof broker.publish = (message) => {
      topics.push(message.topic);
      return broker.publish(message);
    };
    const heard = Object.create(broker, { publish: { value: publish } }) as typeof broker;
    const served = await serveOn(heard, ['script', 'echo']);
    open.push(() => served.close());
    const mesh = joinMesh({ broker: await ground.connect(), namespace: NAMESPACE });
    open.push(() => mesh.close());
    const caller = await mesh.call({ kind: 'gateway', id: 'gw_quiet' });
    // A busy machine may delay a response for longer than a short retry interval, and the repeated request would get its events too.
    const patient = caller.link({ agent: 'script', retryMs: 60_000 });
    const said = async (text: string, link = patient): Promise<[string, readonly string[]]> => {
      topics.length = 0;
      const { task, message } = await link.send(request(text), callContext());
      const levels = topics.filter((topic) => topic.includes('/gateway/')).map((topic) => topic.split('/')[5] ?? '');
      return [task === undefined ? (message?.parts[0]?.text ?? '') : task.status.state, levels];
    };
    const [, first] = await said('chunks=5');
    expect(first).toContain('status');
    expect(await said('chunks=5')).toEqual(['TASK_STATE_COMPLETED', ['response']]);
    expect(await said('ask')).toEqual(['TASK_STATE_INPUT_REQUIRED', ['response']]);
    expect((await said('message'))[0]).not.toBe('');
    // It takes longer than the retry interval and the time to accept: the repeated request shows that the task is running, and it runs once.
    const quick = caller.link({ agent: 'script', retryMs: 1000, acceptMsMax: 3000 });
    expect((await said('chunks=5', quick))[0]).toBe('TASK_STATE_COMPLETED');
    const tasks = async (): Promise<number> => (await served.engine.admin.tasks({})).tasks.length;
    const before = await tasks();
    const [state, levels] = await said('sleep=4500', quick);
    expect([state, levels.at(0), levels.at(-1)]).toEqual(['TASK_STATE_COMPLETED', 'status', 'response']);
    expect(await tasks()).toBe(before + 1);
  });

  it('is canceled and returns the task', async () => {
    const { link } = await linked(start);
    const { task } = await link.send({ ...request('sleep=60000'), configuration: { returnImmediately: true } }, callContext());
    const canceled = await link.cancel({ id: task?.id ?? ('' as never) }, callContext());
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('answers a question in the same task', async () => {
    const { link } = await linked(start);
    const first = await link.send(request('ask'), callContext());
    expect(first.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const id = first.task?.id;
    const second = await link.send({ message: createUserMessage('blue', { ...(id === undefined ? {} : { taskId: id }) }) }, callContext());
    expect([second.task?.id, second.task?.status.state]).toEqual([id, 'TASK_STATE_COMPLETED']);
    expect(JSON.stringify(second.task)).toContain('answer: blue');
  });

  it('can be read by its caller', async () => {
    const { link } = await linked(start);
    const { task } = await link.send({ ...request('sleep=60000'), configuration: { returnImmediately: true } }, callContext());
    const got = await link.get({ id: task?.id ?? ('' as never) }, callContext());
    expect([got.id, got.status.state, got.history?.length]).toEqual([task?.id, 'TASK_STATE_WORKING', 1]);
    await expect(link.get({ id: 'nobody' as never }, callContext())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('fails with the agent’s error, or after a time when no agent accepts it', async () => {
    const { link } = await linked(start);
    const failed = await link.send(request('fail'), callContext());
    expect(failed.task?.status.state).toBe('TASK_STATE_FAILED');
    const ground = await start();
    open.push(() => ground.stop());
    const mesh = joinMesh({ broker: await ground.connect(), namespace: NAMESPACE });
    open.push(() => mesh.close());
    const caller = await mesh.call({ kind: 'gateway', id: 'gw_test' });
    const nobody = caller.link({ agent: 'nobody', retryMs: 50, acceptMsMax: 200 });
    await expect(nobody.send(request('hello'), callContext())).rejects.toThrow('no agent nobody on the mesh has accepted the request');
  });
});
