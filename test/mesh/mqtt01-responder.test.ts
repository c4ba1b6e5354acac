import { expect, it } from 'vitest';
import { artifact, builtInAgents, defineAgent } from '#agents';
import type { ReceivedMessage } from '#mesh';
import { A2AError } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { jsonOf, onMosquitto, PLACE, type Raw, rawRequester, type Serving, sendBody, serveAgent, TASK } from './mqtt01-support.ts';

const REQUEST = `$a2a/v1/request/${PLACE}/scheduler`;

onMosquitto('a responder of A2A over MQTT 0.1', (suite) => {
  const { open } = suite;

  async function both(
    options: Serving = {},
  ): Promise<Raw & { counts: { readonly dropped: number; readonly ignored: number }; reports: string[] }> {
    const served = await serveAgent(suite.running.url, 'scheduler', options);
    open.push(() => served.close());
    const raw = await rawRequester(suite.running.url, options.root);
    open.push(() => raw.broker.close());
    return { ...raw, counts: served.mesh.counts, reports: served.reports };
  }
  const errorsOf = (raw: Raw): unknown[] => raw.heard.map((message) => (jsonOf(message) as { error?: unknown }).error);

  it('streams the events of a request with its correlation and task id', async () => {
    const raw = await both();
    await raw.ask(REQUEST, sendBody('chunks=2'));
    await raw.until(4);
    const results = raw.heard.map((message) => jsonOf(message) as { id: string; result: Record<string, unknown> });
    expect(results.map(({ id }) => id)).toEqual(results.map(() => 'r-1'));
    expect(results[0]?.result['task']).toMatchObject({ id: TASK, contextId: '6d0f' });
    expect(results.at(-1)?.result['statusUpdate']).toMatchObject({
      taskId: TASK,
      contextId: '6d0f',
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    expect(results.filter(({ result }) => result['artifactUpdate'] !== undefined)).toHaveLength(2);
    for (const { correlation, properties } of raw.heard) {
      expect(Buffer.from(correlation ?? []).toString('hex')).toBe('5b1e77a0c94f4e0f');
      expect(properties['a2a-responder-agent-id']).toBe('scheduler');
    }
  });

  it('refuses a request that does not name an extension which the card requires', async () => {
    const agent = builtInAgents.get('conformance')?.create({ profile: 'required-extension' });
    const raw = await both(agent === undefined ? {} : { agent });
    await raw.ask(REQUEST, sendBody('hi'));
    await raw.until(1);
    expect(errorsOf(raw)).toMatchObject([{ code: -32008 }]);
    await raw.ask(REQUEST, sendBody('hi'), { properties: { 'A2A-Extensions': 'urn:a2a:tck:required-extension' } });
    await raw.until(2);
    expect(errorsOf(raw)[1]).toBeUndefined();
  });

  it('answers SendMessage with one task, and GetTask, CancelTask and other methods', async () => {
    const raw = await both();
    await raw.ask(REQUEST, sendBody('hello', {}, 'SendMessage'));
    await raw.until(1);
    expect(jsonOf(raw.heard[0] as never)).toMatchObject({ result: { task: { id: TASK, status: { state: 'TASK_STATE_COMPLETED' } } } });
    await raw.ask(REQUEST, { jsonrpc: '2.0', id: 2, method: 'GetTask', params: { id: TASK } });
    await raw.until(2);
    expect(jsonOf(raw.heard[1] as never)).toMatchObject({ id: 2, result: { id: TASK, status: { state: 'TASK_STATE_COMPLETED' } } });
    await raw.ask(REQUEST, { jsonrpc: '2.0', id: 3, method: 'CancelTask', params: { id: TASK } });
    await raw.ask(REQUEST, { jsonrpc: '2.0', id: 4, method: 'NoSuchMethod', params: {} });
    await raw.until(4);
    expect(errorsOf(raw).slice(2)).toMatchObject([{ code: -32_002 }, { code: -32_601 }]);
  });

  it('runs a repeated request once and answers each copy', async () => {
    let runs = 0;
    const held = Promise.withResolvers<void>();
    const agent = defineAgent({
      name: 'scheduler',
      description: 'counts',
      run: async () => {
        runs += 1;
        await held.promise;
        return `run ${runs}`;
      },
    });
    const raw = await both({ agent });
    for (const correlation of ['A', 'B', 'B'])
      await raw.ask(REQUEST, sendBody('plan', {}, 'SendMessage'), { correlation: Buffer.from(correlation) });
    held.resolve();
    await raw.until(2);
    await raw.ask(REQUEST, sendBody('plan', {}, 'SendMessage'), { correlation: Buffer.from('C') });
    await expect.poll(() => raw.heard.some(({ correlation }) => String(Buffer.from(correlation ?? [])) === 'C')).toBe(true);
    expect(runs).toBe(1);
    const correlations = raw.heard.map(({ correlation }) => Buffer.from(correlation ?? []).toString());
    expect([correlations.includes('A'), correlations.includes('B'), correlations.includes('C')]).toEqual([true, true, true]);
    for (const message of raw.heard) expect(jsonOf(message)).toMatchObject({ result: { task: { id: TASK } } });
  });

  it('refuses another context, a message to a finished task, and a missing or invalid task id', async () => {
    const raw = await both();
    await raw.ask(REQUEST, sendBody('ask', {}, 'SendMessage'));
    await raw.until(1);
    await raw.ask(REQUEST, sendBody('blue', { messageId: 'm-2', contextId: 'another' }, 'SendMessage'));
    await raw.until(2);
    await raw.ask(REQUEST, sendBody('blue', { messageId: 'm-3' }, 'SendMessage'));
    await raw.until(3);
    expect(jsonOf(raw.heard[2] as never)).toMatchObject({ result: { task: { id: TASK, status: { state: 'TASK_STATE_COMPLETED' } } } });
    await raw.ask(REQUEST, sendBody('more', { messageId: 'm-4' }, 'SendMessage'));
    await raw.until(4);
    await raw.ask(REQUEST, sendBody('x', { taskId: undefined }));
    await raw.until(5);
    await raw.ask(REQUEST, sendBody('x', { taskId: 'not-a-uuid' }));
    await raw.until(6);
    const errors = errorsOf(raw);
    expect(errors[1]).toMatchObject({ code: -32_602 });
    expect(errors[3]).toMatchObject({ code: -32_004 });
    expect(JSON.stringify(errors[3])).toContain('ErrorInfo');
    expect(errors.slice(4)).toMatchObject([{ code: -32_602 }, { code: -32_602 }]);
  });

  it('answers requests with bad MQTT metadata by an error if it can, and drops the others', async () => {
    const raw = await both();
    const { correlation: _, ...without } = {
      topic: REQUEST,
      payload: Buffer.from(JSON.stringify(sendBody('x'))),
      correlation: 1,
      responseTopic: raw.replyTo,
    };
    await raw.broker.publish(without);
    await raw.until(1);
    await raw.ask(REQUEST, sendBody('x'), { properties: { 'a2a-context-id': 'another' } });
    await raw.until(2);
    await raw.ask(REQUEST, 'no json');
    await raw.until(3);
    await raw.ask(REQUEST, []);
    await raw.until(4);
    const bad = { code: -32_005, data: { a2a_error: 'transport_protocol_error' } };
    expect(errorsOf(raw)).toMatchObject([bad, bad, { code: -32_700 }, { code: -32_600 }]);
    const { payload } = without;
    await raw.broker.publish({ topic: REQUEST, payload });
    await raw.ask(REQUEST, sendBody('x'), { responseTopic: `$a2a/v1/discovery/${PLACE}/scheduler` });
    await raw.ask(REQUEST, sendBody('x'), { responseTopic: `$a2a/v1/request/${PLACE}/another/one` });
    await raw.ask(REQUEST, sendBody('x'), { retain: true });
    await expect.poll(() => raw.counts.dropped).toBe(3);
    await raw.broker.publish({ topic: REQUEST, payload: Buffer.alloc(0), retain: true });
  });

  it('refuses encrypted requests with transport_protocol_error', async () => {
    const raw = await both();
    await raw.ask(REQUEST, sendBody('x'), { properties: { 'a2a-security-profile': 'ubsp-v1' } });
    await raw.until(1);
    for (const contentType of ['application/jose+json', 'application/jose'])
      await raw.ask(REQUEST, 'eyJhbGciOiJFQ0RILUVTIn0..a.b.c', { contentType });
    await raw.until(3);
    const refused = { code: -32_005, data: { a2a_error: 'transport_protocol_error' } };
    expect(errorsOf(raw)).toMatchObject([
      { ...refused, message: expect.stringContaining('ubsp-v1 is not supported') },
      { ...refused, message: expect.stringContaining('application/jose+json') },
      refused,
    ]);
    await raw.ask(REQUEST, sendBody('chunks=1', {}, 'SendMessage'), { contentType: 'application/json' });
    await raw.until(4);
    expect(jsonOf(raw.heard[3] as ReceivedMessage)).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
  });

  it('authenticates requests and never repeats the token', async () => {
    const authenticate = async (authorization: string | undefined) => {
      if (authorization !== 'Bearer good') throw new A2AError('UNAUTHENTICATED');
      return { principal: { id: 'ann', scopes: [] } };
    };
    const raw = await both({ authenticate });
    await raw.ask(REQUEST, sendBody('hello', {}, 'SendMessage'));
    await raw.until(1);
    await raw.ask(REQUEST, sendBody('hello', {}, 'SendMessage'), { properties: { 'a2a-authorization': 'Bearer bad' } });
    await raw.until(2);
    await raw.ask(REQUEST, sendBody('hello', {}, 'SendMessage'), { properties: { 'a2a-authorization': 'Bearer good' } });
    await raw.until(3);
    expect(errorsOf(raw)).toMatchObject([{ code: -31_401 }, { code: -31_401 }, undefined]);
    expect(JSON.stringify(raw.heard.map((one) => [one.properties, Buffer.from(one.payload).toString()]))).not.toMatch(/Bearer|good|bad/);
  });

  it('retains its card with a status, set by itself or by its last will', async () => {
    const watcher = await connectMqtt({ url: suite.running.url, sessionSeconds: 0 });
    open.push(() => watcher.close());
    const seen: string[] = [];
    const topic = `$a2a/v1/discovery/${PLACE}/watched`;
    await watcher.subscribe({
      filter: topic,
      handle: ({ properties, payload }) =>
        void seen.push(`${properties['a2a-status']} ${properties['a2a-status-source']} ${payload.length > 0}`),
    });
    const served = await serveAgent(suite.running.url, 'watched');
    await expect.poll(() => seen).toEqual(['online agent true']);
    await served.close();
    await expect.poll(() => seen).toEqual(['online agent true', 'offline agent true']);
    const again = await serveAgent(suite.running.url, 'watched');
    // A second client with the same id disconnects the first, and the broker publishes its last will.
    const thief = await connectMqtt({ url: suite.running.url, sessionSeconds: 0, clientId: `${PLACE}/watched` });
    await expect.poll(() => seen.includes('offline lwt true')).toBe(true);
    await thief.close();
    await again.close();
    await watcher.publish({ topic, payload: Buffer.alloc(0), retain: true });
  });

  it('warns of pools under $, and shares requests to a pool under another root', async () => {
    expect((await both({ pools: ['solvers'] })).reports.join()).toContain('a2a/v1');
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) => serveAgent(suite.running.url, name, { root: 'a2a/v1', pools: ['solvers'] })),
    );
    open.push(async () => void (await Promise.all([one?.close(), two?.close()])));
    const raw = await rawRequester(suite.running.url, 'a2a/v1', 'desk-8');
    open.push(() => raw.broker.close());
    for (let at = 0; at < 10; at += 1) {
      const taskId = `1f0c7b6e-6a53-4c0e-8b0f-0a4f6f8a2d${at + 20}`;
      await raw.ask(`a2a/v1/request/${PLACE}/pool/solvers`, sendBody('hello', { taskId, messageId: `m-${at}` }, 'SendMessage'));
    }
    await raw.until(10);
    const members = new Set(raw.heard.map(({ properties }) => properties['a2a-responder-agent-id']));
    expect([...members].toSorted()).toEqual(['one', 'two']);
    expect(raw.heard).toHaveLength(10);
  });

  it('sends binary files to requesters that ask for them', async () => {
    const bytes = Buffer.alloc(150_000, 'x');
    const agent = defineAgent({
      name: 'scheduler',
      description: 'draws',
      run: function* () {
        yield artifact({ id: 'img1', parts: [{ raw: bytes.toString('base64'), mediaType: 'image/png' }] } as never);
      },
    });
    const raw = await both({ agent });
    await raw.ask(REQUEST, sendBody('draw'), { properties: { 'a2a-artifact-mode': 'binary' } });
    await raw.until(5);
    const chunks = raw.heard.filter(({ properties }) => properties['a2a-event-type'] === 'task-artifact-update');
    expect(chunks.map(({ properties }) => [properties['a2a-chunk-seqno'], properties['a2a-last-chunk']])).toEqual([
      ['0', 'false'],
      ['1', 'false'],
      ['2', 'true'],
    ]);
    expect(chunks[0]?.contentType).toBe('image/png');
    expect(Buffer.concat(chunks.map(({ payload }) => payload)).equals(bytes)).toBe(true);
  });
});
