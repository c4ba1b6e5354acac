import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Logged, Task } from '#protocol';
import { foldEvent } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { connectMesh, onRealBrokers, onStop, start, stopAll } from './nodes.ts';

afterEach(stopAll);

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'parley-mesh-'));
  onStop(async () => rmSync(made, { recursive: true, force: true }));
  return made;
};

async function heardOut(stream: AsyncIterable<readonly Logged[]>, onFirst: () => void = () => undefined): Promise<Task | undefined> {
  let task: Task | undefined;
  for await (const batch of stream) {
    for (const { event } of batch) task = foldEvent(task, event);
    onFirst();
  }
  return task;
}

const tasksOf = async ({ url }: { readonly url: string }): Promise<number> =>
  ((await (await fetch(`${url}/api/parley/v1/tasks`)).json()) as { totalSize: number }).totalSize;

onRealBrokers('a node that is killed', (startBroker) => {
  it('continues its tasks after the restart, and responds to callers that still wait', async () => {
    const broker = await startBroker();
    const args = ['--data', folder()];
    const first = await start(broker.url, ['script'], { args });
    const caller = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    const link = caller.link({ agent: 'script' });
    const begun = Promise.withResolvers<void>();
    const answers = Promise.all(
      ['chunks=5 delay=300', 'sleep=1500', 'chunks=2'].map((text, at) =>
        heardOut(link.stream(caller.request(text), caller.ctx), at === 0 ? begun.resolve : undefined),
      ),
    );
    await begun.promise;
    first.process.kill('SIGKILL');
    await first.ended;
    await start(broker.url, ['script'], { args });
    const tasks = await answers;
    expect(tasks.map((task) => task?.status.state)).toEqual(Array(3).fill('TASK_STATE_COMPLETED'));
    const chunks = tasks[0]?.artifacts?.[0]?.parts.map(({ text }) => text);
    expect(chunks).toEqual(['chunk 1chunk 2chunk 3chunk 4chunk 5']);
  });

  it('leaves requests that it had not accepted to the other replica, once', async () => {
    const broker = await startBroker();
    const [one, two] = await Promise.all([start(broker.url, ['script']), start(broker.url, ['script'])]);
    const caller = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    const link = caller.link({ agent: 'script', retryMs: 1000 });
    one.process.kill('SIGSTOP'); // it receives its share and accepts nothing
    const requests = Array.from({ length: 12 }, () => heardOut(link.stream(caller.request('chunks=1'), caller.ctx)));
    // The running replica has some requests, so the stopped one has received its share.
    await eventually(async () => expect(await tasksOf(two)).toBeGreaterThan(0));
    one.process.kill('SIGKILL');
    one.process.kill('SIGCONT');
    const tasks = await Promise.all(requests);
    expect(tasks.every((task) => task?.status.state === 'TASK_STATE_COMPLETED')).toBe(true);
    expect(await tasksOf(two)).toBe(12);
  });

  it('shares the load with its replicas, and each finds the tasks of the others', async () => {
    const broker = await startBroker();
    const nodes = await Promise.all([start(broker.url, ['script']), start(broker.url, ['script'])]);
    const caller = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    const link = caller.link({ agent: 'script' });
    // So many, because NATS gives each to a random one.
    const sent = await Promise.all(
      Array.from({ length: 40 }, () =>
        link.send({ ...caller.request('sleep=30000'), configuration: { returnImmediately: true } }, caller.ctx),
      ),
    );
    const sizes = await Promise.all(nodes.map(tasksOf));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    // Another participant does not know which replica has a task: the one that gets the request passes it on.
    const other = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    await Promise.all(sent.map(({ task }) => other.link({ agent: 'script' }).cancel({ id: task?.id ?? ('' as never) }, other.ctx)));
    await eventually(async () => {
      const states = await Promise.all(
        nodes.map(async ({ url }) => (await (await fetch(`${url}/api/parley/v1/tasks`)).text()).match(/TASK_STATE_CANCELED/g)?.length ?? 0),
      );
      expect(states.reduce((sum, count) => sum + count, 0)).toBe(40);
    });
  });

  it('or stopped without its broker exits with 0, and so does a gateway', async () => {
    const broker = await startBroker();
    const nodes = await Promise.all([start(broker.url, ['script']), start(broker.url, [], { command: ['mesh', 'gateway'] })]);
    await broker.kill();
    expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
  });

  it('B1: loses no task, nor does a broker that is killed under load', async () => {
    const broker = await startBroker();
    await start(broker.url, ['script'], { args: ['--data', folder()] });
    const caller = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    const link = caller.link({ agent: 'script', retryMs: 1000 });
    const begun = Promise.withResolvers<void>();
    const requests = Array.from({ length: 8 }, (_, at) =>
      heardOut(link.stream(caller.request(`chunks=4 delay=${200 + at}`), caller.ctx), begun.resolve),
    );
    await begun.promise;
    await broker.kill();
    await broker.start();
    const tasks = await Promise.all(requests);
    expect(tasks.map((task) => task?.status.state)).toEqual(Array(8).fill('TASK_STATE_COMPLETED'));
  });
});
