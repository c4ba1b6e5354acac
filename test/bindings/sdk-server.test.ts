import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonRpcLink } from '#bindings';
import type { A2AService, Task } from '#protocol';
import { foldEvent, pushConfigId, taskId } from '#protocol';
import { callContext, collectEvents, dialectOf, errorOf, userMessage } from '../support/calls.ts';
import type { Listening } from '../support/listen.ts';
import { sdkServer } from '../support/sdk-agent.ts';

/** Our links against the official SDK's own server (@a2a-js/sdk 1.3.0), over a real socket. */
describe('our link and the official server', () => {
  let server: Listening;
  beforeAll(async () => {
    server = await sdkServer();
  });
  afterAll(() => server.close());

  for (const id of ['v10', 'v03']) {
    describe(id, () => {
      const ctx = callContext();
      const dialect = dialectOf(id);
      const link = (): A2AService => jsonRpcLink({ url: `${server.url}/`, dialect, fetch });
      const request = (text: string) => ({ message: userMessage(text, { messageId: crypto.randomUUID() as never }) });
      const send = async (text: string, returnImmediately = false): Promise<Task> => {
        const { task } = await link().send({ ...request(text), configuration: { returnImmediately } }, ctx);
        if (task === undefined) throw new Error('no task');
        return task;
      };
      const textOf = (task: Task | undefined): string =>
        (task?.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text)).join();

      it('sends and waits', async () => {
        const task = await send('go');
        expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'chunk 1,chunk 2,chunk 3']);
        expect(textOf(await link().get({ id: task.id }, ctx))).toBe('chunk 1,chunk 2,chunk 3');
      });

      it('gets a direct message', async () => {
        expect((await link().send(request('message'), ctx)).message?.parts[0]?.text).toBe('said directly');
        const [only, ...more] = await collectEvents(link().stream(request('message'), ctx));
        expect([only?.event.message?.parts[0]?.text, more]).toEqual(['said directly', []]);
      });

      it('streams', async () => {
        const events = await collectEvents(link().stream(request('go'), ctx));
        const task = events.reduce<Task | undefined>((folded, { event }) => foldEvent(folded, event), undefined);
        expect([task?.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'chunk 1chunk 2chunk 3']);
      });

      it('cancels, and sees it on a subscription', async () => {
        const { id: running } = await send('hang', true);
        const reading = collectEvents(link().subscribe({ id: running }, ctx));
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect((await link().cancel({ id: running }, ctx)).status.state).toBe('TASK_STATE_CANCELED');
        const last = (await reading).at(-1)?.event;
        expect((last?.statusUpdate ?? last?.task)?.status.state).toBe('TASK_STATE_CANCELED');
      });

      it('reads its errors', async () => {
        const nobody = taskId('nobody');
        expect((await errorOf(link().get({ id: nobody }, ctx))).kind).toBe('TASK_NOT_FOUND');
        expect((await errorOf(link().cancel({ id: nobody }, ctx))).kind).toBe('TASK_NOT_FOUND');
        expect((await errorOf(collectEvents(link().subscribe({ id: nobody }, ctx)))).kind).toBe('TASK_NOT_FOUND');
        const done = await send('go');
        expect((await errorOf(link().cancel({ id: done.id }, ctx))).kind).toBe('TASK_NOT_CANCELABLE');
      });

      it('manages push configs', async () => {
        const { id: done } = await send('go');
        const made = await link().push.create({ taskId: done, id: pushConfigId('p1'), url: 'https://hook.example/a', token: 't' }, ctx);
        expect(made).toMatchObject({ id: 'p1', url: 'https://hook.example/a', token: 't' });
        expect((await link().push.get({ taskId: done, id: pushConfigId('p1') }, ctx)).url).toBe('https://hook.example/a');
        expect((await link().push.list({ taskId: done }, ctx)).configs).toHaveLength(1);
        await link().push.delete({ taskId: done, id: pushConfigId('p1') }, ctx);
        expect((await link().push.list({ taskId: done }, ctx)).configs).toEqual([]);
      });

      it('reads the extended card', async () => {
        expect((await link().extendedCard({}, ctx)).name).toBe('Echo');
      });

      it.runIf(id === 'v10')('lists', async () => {
        await send('go');
        const page = await link().list({ pageSize: 1, includeArtifacts: true }, ctx);
        expect([page.tasks.length, page.pageSize, page.totalSize > 1, page.nextPageToken !== '']).toEqual([1, 1, true, true]);
      });
    });
  }
});
