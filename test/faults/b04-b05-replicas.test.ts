import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { connectMesh, onRealBrokers, onStop, start, stopAll } from '../mesh/nodes.ts';
import { heardOut } from './mesh.ts';

afterEach(stopAll);

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'parley-b4-'));
  onStop(async () => rmSync(made, { recursive: true, force: true }));
  return made;
};

onRealBrokers('replicas', (startBroker) => {
  it('B4: no accepted request is lost when one of three replicas is killed again and again under load', async () => {
    const broker = await startBroker();
    const folders = [folder(), folder(), folder()];
    const startOne = (at: number) => start(broker.url, ['script'], { args: ['--data', folders[at] ?? ''] });
    const nodes = await Promise.all(folders.map((_, at) => startOne(at)));
    const caller = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    const link = caller.link({ agent: 'script', retryMs: 1000, acceptMsMax: 60_000 });
    const answers: Promise<string | undefined>[] = [];
    let isOver = false;
    const load = (async () => {
      for (let at = 0; !isOver; at += 1) {
        const stream = link.stream(caller.request(`chunks=3 delay=${100 + at}`), caller.ctx);
        answers.push(heardOut(stream).then((task) => task?.status.state));
        await sleep(100);
      }
    })();
    for (let at = 0; at < 3; at += 1) {
      await sleep(500);
      nodes[at]?.process.kill('SIGKILL');
      await nodes[at]?.ended;
      nodes[at] = await startOne(at);
    }
    isOver = true;
    await load;
    expect(answers.length).toBeGreaterThan(10);
    expect([...new Set(await Promise.all(answers))]).toEqual(['TASK_STATE_COMPLETED']);
  });

  it('B5: the others take over from a paused replica, which works again after it resumes', async () => {
    const broker = await startBroker();
    const nodes = await Promise.all([start(broker.url, ['script']), start(broker.url, ['script'])]);
    const [paused] = nodes;
    const caller = await connectMesh(broker.url, { kind: 'gateway', id: 'gw' });
    // NATS gives each copy to a random replica, so many copies may go to the paused one.
    const link = caller.link({ agent: 'script', retryMs: 2000, acceptMsMax: 120_000 });
    const heard: string[] = [];
    const ask = async (name: string): Promise<string | undefined> => {
      const task = await heardOut(link.stream(caller.request('chunks=2'), caller.ctx));
      heard.push(name);
      return task?.status.state;
    };
    paused?.process.kill('SIGSTOP');
    const during = await Promise.all(Array.from({ length: 10 }, (_, at) => ask(`during ${at}`)));
    expect(during).toEqual(Array(10).fill('TASK_STATE_COMPLETED'));
    await sleep(3500); // the copies in its socket have expired by now
    paused?.process.kill('SIGCONT');
    const after = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(`after ${at}`)));
    expect(after).toEqual(Array(40).fill('TASK_STATE_COMPLETED'));
    await sleep(500); // nobody reads the late replies of the paused replica
    expect(new Set(heard).size).toBe(50);
    expect(heard).toHaveLength(50);
    const sizes = await Promise.all(
      nodes.map(async ({ url }) => ((await (await fetch(`${url}/api/parley/v1/tasks`)).json()) as { totalSize: number }).totalSize),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(50); // nothing ran twice, and no expired request ran
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });
});
