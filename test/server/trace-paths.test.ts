import { describe, expect, it } from 'vitest';
import { joinMesh, mqttGrammar, samGrammar } from '#mesh';
import { dialectId, LOCAL_PRINCIPAL } from '#protocol';
import { proxyAgent } from '../../src/agents/proxy/proxy.ts';
import { memoryHub } from '../../src/mesh/adapters/memory.ts';
import type { FinishedSpan } from '../../src/server/adapters/otlp/requests.ts';
import { createTracer } from '../../src/server/adapters/otlp/tracer.ts';
import { userMessage } from '../support/calls.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../support/receiver.ts';
import { builtIn, handlerOf, sendBody, startServer } from '../support/server.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const traceparent = `00-${TRACE}-${CALLER}-01`;
const recorder = (): { readonly spans: FinishedSpan[]; readonly otel: ReturnType<typeof createTracer> } => {
  const spans: FinishedSpan[] = [];
  return {
    spans,
    otel: createTracer(
      (_, parent) => parent ?? true,
      (span) => spans.push(span),
    ),
  };
};
const named = (spans: readonly FinishedSpan[], name: string): FinishedSpan | undefined => spans.find((span) => span.name === name);
const post = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', traceparent },
    body: JSON.stringify(body),
  });

describe('a trace goes', () => {
  it('to webhooks: each attempt is a span, which the receiver gets as its parent', async () => {
    const { spans, otel } = recorder();
    const receiver = await startReceiver();
    const server = await startServer({ otel, allowLoopbackTargets: true });
    await (await post(server.url, sendBody('chunks=1', { configuration: { taskPushNotificationConfig: { url: receiver.url } } }))).text();
    await eventually(() => named(spans, 'a2a webhook') !== undefined);
    await server.close();
    await receiver.close();
    const delivery = named(spans, 'a2a webhook');
    expect(delivery).toMatchObject({ traceId: TRACE, parentSpanId: named(spans, 'a2a send')?.spanId, kind: 3 });
    expect([...(delivery?.attributes ?? [])]).toContainEqual(['a2a.outcome', 'delivered']);
    expect(receiver.hits.map(({ headers }) => headers['traceparent'])).toContain(`00-${TRACE}-${delivery?.spanId}-01`);
  });

  it('through a proxied agent to its origin', async () => {
    const [there, here] = [recorder(), recorder()];
    const origin = handlerOf({ otel: there.otel });
    await origin.ready;
    const [{ service, card } = { service: undefined, card: undefined }] = origin.agents;
    if (service === undefined || card === undefined) throw new Error('no agent');
    const server = await startServer({ otel: here.otel, agents: proxyAgent({ service, card, name: 'front' }) });
    await (await post(server.url, sendBody('chunks=1'))).text();
    await server.close();
    await origin.close();
    const run = named(here.spans, 'a2a run front');
    expect(run?.traceId).toBe(TRACE);
    const received = there.spans.find(({ name }) => name.startsWith('a2a s') || name === 'a2a stream');
    expect(received).toMatchObject({ traceId: TRACE, parentSpanId: run?.spanId });
  });

  it.each([
    ['sam', samGrammar],
    ['mqtt01', mqttGrammar()],
  ] as const)('over a broker to the agent of another node: %s', async (_, grammar) => {
    const { spans, otel } = recorder();
    const hub = memoryHub();
    const node = handlerOf({ otel, agents: [builtIn('echo')] });
    await node.ready;
    const server = joinMesh({ broker: hub.connect(), namespace: 'acme/plant', grammar });
    const client = joinMesh({ broker: hub.connect(), namespace: 'acme/plant', grammar });
    for (const { name, card, service } of node.agents) await server.serve({ name, card, service });
    const caller = await client.call({ kind: 'gateway', id: 'me' });
    const ctx = {
      principal: LOCAL_PRINCIPAL,
      dialect: dialectId('v10'),
      extensions: [],
      signal: AbortSignal.timeout(30_000),
      trace: { traceparent },
    };
    await caller.link({ agent: 'echo' }).send({ message: userMessage('hello') }, ctx);
    await eventually(() => spans.some((span) => span.name.startsWith('a2a s') && span.parentSpanId === CALLER && span.traceId === TRACE));
    await client.close();
    await server.close();
    await node.close();
  });
});
