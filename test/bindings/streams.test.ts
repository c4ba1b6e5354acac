import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeFrames, serveJsonRpc } from '#bindings';
import type { A2AService, Dialect, Fetch, SubscribeRequest, TaskEvent } from '#protocol';
import { A2AError, contextId, DIALECTS, isStreamOperation, taskId } from '#protocol';
import { dialectOf } from '../support/calls.ts';
import { rpc, v10Message } from '../support/posts.ts';
import { BINDINGS, jsonPost, streaming, streamOnce, TASK, textOf, tick, working } from '../support/stream-bindings.ts';

const v10 = dialectOf('v10');

for (const { name, open, subscribe } of BINDINGS) {
  describe(`a stream over ${name}`, () => {
    it('sends its headers with the first event', async () => {
      const first = Promise.withResolvers<void>();
      const opening = open(
        streaming(async function* () {
          await first.promise;
          yield [working(1)];
        }),
      );
      let answered = false;
      void opening.then(() => {
        answered = true;
      });
      await tick();
      expect(answered).toBe(false);
      first.resolve();
      const response = await opening;
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('x-accel-buffering')).toBe('no');
    });

    it('answers an error before the first event as an error', async () => {
      const response = await open(
        // biome-ignore lint/correctness/useYield: it fails before it can
        streaming(async function* () {
          throw new A2AError('TASK_NOT_FOUND');
        }),
      );
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toMatchObject(name === 'JSON-RPC' ? { id: 1, error: { code: -32001 } } : { error: { code: 404 } });
    });

    it('has ids only for events in the log', async () => {
      const response = await open(
        streaming(async function* () {
          yield [working(7), { event: { task: TASK } }, working(8)];
        }),
      );
      const lines = (await response.text()).split('\n');
      expect(lines.map((line) => line.slice(0, 5))).toEqual(['id: 7', 'data:', '', 'data:', '', 'id: 8', 'data:', '', '']);
    });

    it('sends a batch as one chunk, and reads the next batch only on demand', async () => {
      let taken = 0;
      const response = await open(
        streaming(async function* () {
          for (let at = 1; ; at += 2) {
            taken += 1;
            yield [working(at), working(at + 1)];
          }
        }),
      );
      const reader = response.body?.getReader();
      for (let count = 0; count < 20; count += 1) await tick();
      expect(taken).toBe(1);
      const chunk = textOf((await reader?.read())?.value);
      expect(chunk.match(/^data: /gm)).toHaveLength(2);
      await reader?.read();
      for (let count = 0; count < 20; count += 1) await tick();
      expect(taken).toBe(2);
      await reader?.cancel();
    });

    it('ends with an error frame when it breaks, without internal details', async () => {
      const causes: unknown[] = [];
      const service = streaming(async function* () {
        yield [working(1)];
        throw new Error('secret inside');
      });
      const text = await (await open(service, { onError: (cause) => causes.push(cause) })).text();
      expect(text).not.toContain('secret');
      expect(String(causes)).toContain('secret inside');
      const last = text.trimEnd().split('\n\n').at(-1) ?? '';
      expect(last).toMatch(/^event: error\ndata: \{/);
      expect(last).not.toContain('id: ');
      const body = JSON.parse(last.slice(last.indexOf('{')));
      expect(body).toMatchObject(name === 'JSON-RPC' ? { jsonrpc: '2.0', id: 1, error: { code: -32603 } } : { error: { code: 500 } });
    });

    it('resumes from a numeric position', async () => {
      const asked: unknown[] = [];
      const service = streaming((_, request) => {
        asked.push((request as SubscribeRequest).after);
        return streamOnce([working(1)]);
      });
      for (const id of ['12', '0', 'abc', '-1', '1.5', '99999999999999999999', '']) {
        await (await subscribe(service, { 'Last-Event-ID': id })).text();
      }
      await (await subscribe(service, {})).text();
      expect(asked).toEqual([12, 0, undefined, undefined, undefined, undefined, undefined, undefined]);
    });

    it('is empty if the service yields nothing', async () => {
      const response = await open(streaming(() => streamOnce()));
      expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/event-stream', '']);
    });

    describe('that is silent', () => {
      beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
      afterEach(() => void vi.useRealTimers());

      it('is kept alive by comments without ids, one at a time', async () => {
        const next = Promise.withResolvers<void>();
        const service = streaming(async function* () {
          yield [working(1)];
          await next.promise;
          yield [working(2)];
        });
        const reader = (await open(service, { keepAliveMs: 1000 })).body?.getReader();
        expect(textOf((await reader?.read())?.value)).toMatch(/^id: 1\n/);
        const silent = reader?.read();
        await tick();
        vi.advanceTimersByTime(1000);
        expect(textOf((await silent)?.value)).toBe(': keep-alive\n');
        vi.advanceTimersByTime(60_000); // nobody reads, so no comments accumulate
        const again = reader?.read();
        await tick();
        vi.advanceTimersByTime(1000);
        expect(textOf((await again)?.value)).toBe(': keep-alive\n');
        next.resolve();
        expect(textOf((await reader?.read())?.value)).toMatch(/^id: 2\n/);
        expect(await reader?.read()).toMatchObject({ done: true });
        expect(vi.getTimerCount()).toBe(0);
      });

      it('is not kept alive if nobody reads', async () => {
        const service = streaming(async function* (ctx) {
          yield [working(1)];
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        });
        const reader = (await open(service, { keepAliveMs: 1000 })).body?.getReader();
        await reader?.read();
        vi.advanceTimersByTime(60_000);
        const silent = reader?.read();
        await tick();
        vi.advanceTimersByTime(1000);
        expect(textOf((await silent)?.value)).toBe(': keep-alive\n');
        await reader?.cancel();
        expect(vi.getTimerCount()).toBe(0);
      });
    });
  });
}

describe('the task at the end of a stream', () => {
  const served = async (dialect: Dialect): Promise<{ gets: number; text: string }> => {
    let gets = 0;
    const service: A2AService = {
      ...streaming(() => streamOnce([working(1)])),
      get: async () => {
        gets += 1;
        return TASK;
      },
    };
    const fetch: Fetch = (request) => serveJsonRpc(request, service, { dialect });
    const text = await (await fetch(jsonPost('/a2a', rpc('SendStreamingMessage', v10Message('x')), {}))).text();
    return { gets, text };
  };

  it('is fetched once, for a dialect that ends with it', async () => {
    const ending: Dialect = {
      ...v10,
      openStream: (id) => ({ ...v10.openStream(id), endsWithTask: true, end: (task) => [{ data: `[END ${task?.id}]` }] }),
    };
    const { gets, text } = await served(ending);
    expect([gets, text.endsWith('data: [END t1]\n\n')]).toEqual([1, true]);
  });

  it('is not fetched for others', async () => expect((await served(v10)).gets).toBe(0));

  for (const dialect of DIALECTS) {
    it(`${dialect.id} declares whether it needs it`, () => {
      if (!Object.keys(dialect.methods).some((operation) => isStreamOperation(operation as 'stream'))) return;
      const status = { state: 'TASK_STATE_COMPLETED' } as const;
      const event: TaskEvent = { statusUpdate: { taskId: TASK.id, contextId: contextId('c'), status } };
      const ends = [undefined, { ...TASK, id: taskId('t2'), status }].map((task) => {
        const writer = dialect.openStream(1);
        writer.frames([{ event }]);
        return encodeFrames(writer.end(task));
      });
      expect(dialect.openStream(1).endsWithTask ?? false).toBe(ends[0] !== ends[1]);
    });
  }
});
