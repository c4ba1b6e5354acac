import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, ContextManager } from '@opentelemetry/api';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { restLink } from '#bindings';
import type { TraceContext } from '#protocol';
import { createRegistry, DIALECTS, dialectId, LOCAL_PRINCIPAL } from '#protocol';
import type { ServeOptions } from '../../src/server/adapters/node.ts';
import { serve } from '../../src/server/adapters/node.ts';
import { loadOtel } from '../../src/server/observability/tracing.ts';
import { userMessage } from '../support/calls.ts';
import { eventually } from '../support/eventually.ts';
import { builtIn, QUIET, sendBody } from '../support/server.ts';

/** The real OpenTelemetry SDK, set up as its users do: with a propagator and an AsyncLocalStorage context manager. */
const exporter = new InMemorySpanExporter();
const storage = new AsyncLocalStorage<Context>();
const manager: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, act, self, ...args) => storage.run(active, () => act.call(self as ThisParameterType<typeof act>, ...args)),
  bind: (_, target) => target,
  enable: () => manager,
  disable: () => manager,
};

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' };

function register(): void {
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
}

afterEach(() => {
  for (const api of [trace, context, propagation]) api.disable();
  exporter.reset();
});

/** A run with the text `wait` ends when this resolves. */
let gate: Promise<void> = Promise.resolve();
let open = (): void => undefined;
const close = (): void => {
  gate = new Promise((resolve) => {
    open = resolve;
  });
};

/** An agent that calls the node at the URL in its message, through a client link, and answers with the trace that it ran in. */
const caller = defineAgent({
  name: 'caller',
  description: 'calls',
  run: async ({ text, trace: own, signal }) => {
    const [word = '', url = ''] = text.split(' ');
    if (word === 'crash') throw new Error('inside');
    if (word === 'wait') await gate;
    const active = trace.getActiveSpan()?.spanContext();
    if (word === 'call') await call(url, signal, own);
    return JSON.stringify({ own: own?.traceparent ?? null, state: own?.tracestate ?? null, active: active?.spanId ?? null });
  },
});

async function call(url: string, signal: AbortSignal, own: TraceContext | undefined): Promise<void> {
  const dialect = createRegistry(DIALECTS).byId(dialectId('v10'));
  if (dialect === undefined) throw new Error('no 1.0');
  const ctx = { principal: LOCAL_PRINCIPAL, dialect: dialect.id, extensions: [], signal, ...(own === undefined ? {} : { trace: own }) };
  await restLink({ url, dialect, fetch }).send({ message: userMessage('chunks=1') }, ctx);
}

/** As `parley serve` does it: the server loads the package itself. */
const started = (options: ServeOptions = {}): ReturnType<typeof serve> =>
  serve([caller, builtIn('script')], { port: 0, log: QUIET, ...options });

const post = (url: string, text: string, more: object = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(sendBody(text, more)) });

interface Seen {
  readonly own: string | null;
  readonly state: string | null;
  readonly active: string | null;
}
const seenIn = async (response: Response): Promise<Seen> => {
  const { task } = (await response.json()) as { task: { artifacts: { parts: { text: string }[] }[] } };
  return JSON.parse(task.artifacts[0]?.parts[0]?.text ?? '') as Seen;
};

const spans = (name: string): readonly ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name);
const only = (name: string): ReadableSpan => {
  const [span, ...more] = spans(name);
  if (span === undefined || more.length > 0) throw new Error(`${name}: ${exporter.getFinishedSpans().map((each) => each.name)}`);
  return span;
};

describe('a trace', () => {
  beforeEach(register);

  it('continues from the caller through the call and the run to the next agent', async () => {
    const [server, other] = await Promise.all([started(), started()]);
    const seen = await seenIn(await post(`${server.url}/message:send`, `call ${other.url}/agents/script`));
    await Promise.all([server.close(), other.close()]);

    const run = only('a2a run caller');
    const [first, next] = [...spans('a2a send')].sort(
      (a, b) => Number(b.parentSpanContext?.spanId === CALLER) - Number(a.parentSpanContext?.spanId === CALLER),
    );
    expect(first?.parentSpanContext?.spanId).toBe(CALLER);
    expect(run.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
    expect(next?.parentSpanContext?.spanId).toBe(run.spanContext().spanId);
    expect(only('a2a run script').parentSpanContext?.spanId).toBe(next?.spanContext().spanId);
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId))).toEqual(new Set([TRACE]));
    expect([first?.kind, run.kind]).toEqual([SpanKind.SERVER, SpanKind.INTERNAL]);
    expect(first?.attributes).toEqual({ 'rpc.system': 'a2a', 'rpc.method': 'send', 'a2a.agent': 'caller', 'a2a.dialect': 'v10' });
    expect(run.attributes).toMatchObject({ 'a2a.agent': 'caller', 'a2a.attempt': 1, 'a2a.task': expect.any(String) });
    expect(seen).toEqual({ own: `00-${TRACE}-${run.spanContext().spanId}-01`, state: 'vendor=1', active: run.spanContext().spanId });
  });

  it('covers a stream to its end', async () => {
    const server = await started();
    close();
    const response = await post(`${server.url}/message:stream`, 'wait');
    const reader = response.body?.getReader();
    await reader?.read();
    expect(spans('a2a stream')).toEqual([]);
    open();
    while ((await reader?.read())?.done === false);
    await eventually(() => spans('a2a stream').length === 1);
    await server.close();
    expect(only('a2a run caller').parentSpanContext?.spanId).toBe(only('a2a stream').spanContext().spanId);
  });

  it('belongs to its own run, even if the end of another run started it', async () => {
    const server = await started({ limits: { runningTasksMax: 1 } });
    close();
    const first = post(`${server.url}/message:send`, 'wait');
    await eventually(async () => (await (await fetch(`${server.url}/metrics`)).text()).includes('parley_tasks_running 1'));
    const other = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    const sent = fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', traceparent: other },
      body: JSON.stringify(sendBody('x')),
    });
    await eventually(async () => (await (await fetch(`${server.url}/metrics`)).text()).includes('parley_tasks_queued 1'));
    open();
    const [seen, waited] = await Promise.all([seenIn(await sent), seenIn(await first)]);
    await server.close();
    expect([seen.own?.slice(3, 35), waited.own?.slice(3, 35)]).toEqual(['1'.repeat(32), TRACE]);
    expect(seen.active).toBe(seen.own?.slice(36, 52));
  });

  it('marks internal errors as failed, and errors of the caller not', async () => {
    const server = await started();
    await (await fetch(`${server.url}/tasks/none`, { headers })).text();
    await (await post(`${server.url}/message:send`, 'crash')).text();
    await server.close();
    expect(only('a2a get')).toMatchObject({ attributes: { 'error.type': 'TASK_NOT_FOUND' }, status: { code: SpanStatusCode.UNSET } });
    expect(only('a2a run caller')).toMatchObject({
      attributes: { 'error.type': 'INTERNAL_ERROR' },
      status: { code: SpanStatusCode.ERROR },
    });
    expect(JSON.stringify(only('a2a run caller').attributes)).not.toContain('inside');
  });
});

describe('without a tracer', () => {
  it('passes the caller’s trace on unchanged', async () => {
    const server = await started();
    expect(await seenIn(await post(`${server.url}/message:send`, 'x'))).toEqual({
      own: headers.traceparent,
      state: 'vendor=1',
      active: null,
    });
    await server.close();
  });

  it('does the same without the package', async () => {
    expect(await loadOtel('@opentelemetry/not-installed')).toBeUndefined();
    expect(await loadOtel()).toBeDefined();
    const server = await started({ otel: false });
    expect(await seenIn(await post(`${server.url}/message:send`, 'x'))).toMatchObject({ own: headers.traceparent, state: 'vendor=1' });
    await server.close();
  });
});
