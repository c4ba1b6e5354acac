import { describe, expect, it } from 'vitest';
import type { LinkOptions } from '#bindings';
import type { Logged } from '#protocol';
import { callContext, collectEvents, errorOf } from '../support/calls.ts';
import { ctx, html, ID, json, LINKS, MESSAGE, sse, TASK } from '../support/links.ts';

for (const [name, open] of Object.entries(LINKS)) {
  describe(`a stream over a ${name} link`, () => {
    const read = (response: () => Response, more: Partial<LinkOptions> = {}): Promise<readonly Logged[]> =>
      collectEvents(open(response, more).stream(MESSAGE, ctx));
    const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
    const bare = { task: TASK };
    const enveloped = { jsonrpc: '2.0', id: 1, result: bare };

    it('reads frames, and their ids if they are numbers', async () => {
      const body = name === 'JSON-RPC' ? frame(enveloped) + frame(bare) : frame(bare) + frame(bare);
      const events = await read(() => sse(`id: 4\n${body}id: not-a-number\n${frame(bare)}: keep-alive\n\nid: 9\n${frame(bare)}`));
      expect(events.map(({ seq }) => seq)).toEqual([4, undefined, undefined, 9]);
      expect(events[0]?.event).toEqual({ task: TASK });
    });

    it('ends at [DONE] in any form, and closes the connection', async () => {
      for (const done of ['data: [DONE]\n\n', '[DONE]\n\n']) {
        let closed = false;
        const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
          start: (controller) => controller.enqueue(new TextEncoder().encode(frame(bare) + done + frame('after the end'))),
          cancel: () => {
            closed = true;
          },
        });
        expect(await read(() => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }))).toHaveLength(1);
        expect(closed).toBe(true);
      }
    });

    const rpcError = { code: -32001, message: 'gone' };
    const restError = {
      code: 404,
      message: 'gone',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }],
    };
    const failure = name === 'JSON-RPC' ? { jsonrpc: '2.0', id: 1, error: rpcError } : { error: restError };
    for (const [how, text] of Object.entries({
      'event: error': `event: error\n${frame(failure)}`,
      'a payload with an error': frame(failure),
      'event: error with the bare error': `event: error\n${frame(name === 'JSON-RPC' ? rpcError : restError)}`,
    })) {
      it(`fails on ${how}, after the events before it`, async () => {
        const seen: Logged[] = [];
        const reading = (async () => {
          for await (const batch of open(() => sse(frame(bare) + text + frame(bare))).stream(MESSAGE, ctx)) seen.push(...batch);
        })();
        const error = await errorOf(reading);
        expect([error.kind, error.message, seen.length]).toEqual(['TASK_NOT_FOUND', 'gone', 1]);
      });
    }

    for (const [how, text] of Object.entries({
      'a frame that is no JSON': 'data: hello\n\n',
      'a frame that is no event': frame({ what: 1 }),
      'a frame that is a number': frame(1),
      'an event of two kinds': frame({ ...bare, message: {} }),
    })) {
      it(`fails on ${how}`, async () => expect((await errorOf(read(() => sse(text)))).kind).toBe('INVALID_AGENT_RESPONSE'));
    }

    it('fails on an event that is too large', async () => {
      const error = await errorOf(read(() => sse(frame(bare)), { eventBytesMax: 20 }));
      expect(error.kind).toBe('INVALID_AGENT_RESPONSE');
    });

    it('accepts a plain response: a result or an error', async () => {
      expect(await read(() => json(name === 'JSON-RPC' ? enveloped : bare))).toEqual([{ event: bare }]);
      expect((await errorOf(read(() => json(failure, name === 'JSON-RPC' ? 200 : 404)))).kind).toBe('TASK_NOT_FOUND');
      expect((await errorOf(read(() => html(200)))).kind).toBe('INVALID_AGENT_RESPONSE');
      expect((await errorOf(read(() => html(503)))).kind).toBe('UNAVAILABLE');
    });

    it('reports a cut connection', async () => {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull: (controller) => {
          controller.error(new TypeError('secret socket'));
        },
      });
      const error = await errorOf(read(() => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })));
      expect([error.kind, error.message]).toEqual(['UNAVAILABLE', 'the stream was cut off']);
    });

    it('ends with its signal', async () => {
      const left = new AbortController();
      let closed = false;
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        cancel: () => {
          closed = true;
        },
      });
      const link = open(() => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
      const reading = errorOf(collectEvents(link.stream(MESSAGE, callContext({ signal: left.signal }))));
      setTimeout(() => left.abort(), 5);
      expect([(await reading).message, closed]).toEqual(['the call was aborted', true]);
    });

    it('sends the position to resume from', async () => {
      let sent: string | null = null;
      const link = open((request) => {
        sent = request.headers.get('last-event-id');
        return sse('');
      });
      await collectEvents(link.subscribe({ id: ID, after: 12 as never }, ctx));
      expect(sent).toBe('12');
    });
  });
}
