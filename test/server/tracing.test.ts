import { describe, expect, it } from 'vitest';
import type { CallContext } from '#protocol';
import { A2AError } from '#protocol';
import { loadOtel, type OtelApi, traced } from '../../src/server/tracing.ts';
import { callContext, collect, userMessage } from '../support/calls.ts';
import { memoryService } from '../support/memory-service.ts';

interface Recorded {
  readonly name: string;
  readonly parent: unknown;
  readonly attributes: Record<string, string>;
  status?: { code: number };
  ended: boolean;
}

/** What the real package does, as far as it is used: a context is the traceparent that is active. */
function recorder(): { readonly otel: OtelApi; readonly spans: Recorded[]; active(): unknown } {
  const spans: Recorded[] = [];
  let active: unknown;
  const otel: OtelApi = {
    trace: {
      getTracer: () => ({
        startSpan: (name, options, parent) => {
          const { attributes } = options as { attributes: Record<string, string> };
          const span: Recorded = { name, parent, attributes: { ...attributes }, ended: false };
          spans.push(span);
          return {
            setStatus: (status) => {
              span.status = status;
            },
            setAttribute: (key, value) => {
              span.attributes[key] = value;
            },
            end: () => {
              span.ended = true;
            },
          };
        },
      }),
      setSpan: (parent) => `${String(parent)}/span${spans.length}`,
    },
    context: {
      active: () => active,
      with: (context, run) => {
        active = context;
        try {
          return run();
        } finally {
          active = undefined;
        }
      },
    },
    propagation: {
      extract: (_, carrier) => (carrier as { traceparent?: string }).traceparent,
      inject: (context, carrier) => {
        (carrier as { traceparent?: string }).traceparent = String(context);
      },
    },
    SpanKind: { SERVER: 1 },
    SpanStatusCode: { ERROR: 2 },
  };
  return { otel, spans, active: () => active };
}

const ctx = (): CallContext => callContext({ trace: { traceparent: '00-caller' } });

describe('a trace', () => {
  it('goes on from the caller, through a span, to whatever is called next', async () => {
    const { otel, spans } = recorder();
    const service = memoryService();
    const { task } = await traced(service, 'echo', otel).send({ message: userMessage('x') }, ctx());
    expect(spans).toEqual([
      {
        name: 'a2a send',
        parent: '00-caller',
        attributes: { 'rpc.system': 'a2a', 'rpc.method': 'send', 'a2a.agent': 'echo', 'a2a.dialect': 'v10' },
        ended: true,
      },
    ]);
    expect(service.seen[0]?.ctx.trace).toEqual({ traceparent: '00-caller/span1' });
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('covers a stream to its end', async () => {
    const { otel, spans } = recorder();
    const events = traced(memoryService(), 'echo', otel).stream({ message: userMessage('x') }, ctx());
    const iterator = events[Symbol.asyncIterator]();
    await iterator.next();
    expect(spans[0]?.ended).toBe(false);
    await collect({ [Symbol.asyncIterator]: () => iterator });
    expect(spans[0]?.ended).toBe(true);
  });

  it('tells our faults from the caller’s', async () => {
    const { otel, spans } = recorder();
    const service = traced({ ...memoryService(), list: () => Promise.reject(new Error('inside')) }, 'echo', otel);
    await expect(service.get({ id: 'none' as never }, ctx())).rejects.toBeInstanceOf(A2AError);
    await expect(service.list({}, ctx())).rejects.toThrow('inside');
    expect(spans.map(({ status, attributes, ended }) => [attributes['error.type'], status?.code, ended])).toEqual([
      ['TASK_NOT_FOUND', undefined, true],
      ['INTERNAL_ERROR', 2, true],
    ]);
  });

  it('is nobody’s where the package is not installed', async () => {
    expect(await loadOtel()).toBeUndefined();
  });
});
