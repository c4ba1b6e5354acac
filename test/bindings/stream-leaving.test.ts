import { describe, expect, it } from 'vitest';
import type { Dialect, TaskEvent } from '#protocol';
import { dialectOf } from '../support/calls.ts';
import { eventually } from '../support/eventually.ts';
import { BINDINGS, streaming, tick, working } from '../support/stream-bindings.ts';

const v10 = dialectOf('v10');

for (const { name, open } of BINDINGS) {
  describe(`a stream over ${name} whose reader leaves`, () => {
    it('closes the service’s stream if an event can’t be written', async () => {
      let returned = false;
      const service = streaming(async function* () {
        try {
          for (let at = 1; ; at += 1) yield [working(at), { event: {} as TaskEvent }];
        } finally {
          returned = true;
        }
      });
      const failing: Dialect = {
        ...v10,
        openStream: (id) => ({
          ...v10.openStream(id),
          frames: () => {
            throw new Error('secret inside');
          },
        }),
      };
      const text = await (await open(service, { dialect: failing })).text();
      expect(text).toMatch(/^event: error\ndata: /);
      expect([text.includes('secret'), returned]).toEqual([false, true]);
    });

    it('closes the service’s stream when the caller leaves', async () => {
      let [aborted, returned] = [false, false];
      const service = streaming(async function* (ctx) {
        ctx.signal.addEventListener('abort', () => {
          aborted = true;
        });
        try {
          yield [working(1)];
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        } finally {
          returned = true;
        }
      });
      const reader = (await open(service)).body?.getReader();
      await reader?.read();
      const waiting = reader?.read();
      await reader?.cancel();
      expect(await waiting).toMatchObject({ done: true });
      await tick();
      expect([aborted, returned]).toEqual([true, true]);
    });

    it('tells the service that the request was aborted, before and after the first event', async () => {
      for (const early of [true, false]) {
        const left = new AbortController();
        let aborted = 0;
        const service = streaming(async function* (ctx) {
          if (!early) yield [working(1)];
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
          aborted += 1;
        });
        const opening = open(service, { signal: left.signal });
        if (!early) {
          const reader = (await opening).body?.getReader();
          await reader?.read();
          reader?.read().catch(() => undefined);
        }
        await tick();
        left.abort();
        expect((await opening).status).toBe(200);
        await eventually(() => aborted === 1);
      }
    });
  });
}
