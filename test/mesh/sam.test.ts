import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { BASE, closeSamClients, DOCUMENTED as documented, realRequest as real, samClient, propertiesTo as to } from './sam-client.ts';
import { onEveryBroker } from './support.ts';

afterEach(closeSamClients);

onEveryBroker('a SAM client', (start) => {
  const client = () => samClient(start);

  it('with the documented spelling gets it back, with the task named by replyTo and the id echoed', async () => {
    const { ask, on } = await client();
    await ask(documented, { replyTo: `${BASE}/gateway/response/gw_123/task_abc` });
    await eventually(() => expect(on('gateway/response/gw_123/task_abc').length).toBe(1));
    const [answer] = on('gateway/response/gw_123/task_abc');
    expect(answer?.body).toMatchObject({
      jsonrpc: '2.0',
      id: 'req_123',
      result: { id: 'task_abc', context_id: 'session_456', kind: 'task', status: { state: 'completed' } },
    });
  });

  it('with the real spelling gets status updates that are never final, and then one Task', async () => {
    const { ask, on, heard } = await client();
    await ask(real('gdk-task-1', 'chunks=3'), to('gdk-task-1'), 'script');
    await eventually(() => expect(on('gateway/response/gw_123/gdk-task-1').length).toBe(1));
    const progress = on('gateway/status/gw_123/gdk-task-1');
    expect(progress.map(({ body }) => body.result?.['kind'])).toEqual(Array.from({ length: 4 }, () => 'status-update'));
    expect(progress.slice(1).map(({ body }) => body.result?.status?.message?.parts)).toHaveLength(3);
    expect(progress[0]?.body.result).toMatchObject({
      taskId: 'gdk-task-1',
      contextId: 'gdk-session-1',
      final: false,
      status: { state: 'working' },
    });
    expect(heard.at(-1)?.body).toMatchObject({
      id: 'gdk-task-1',
      result: { kind: 'task', id: 'gdk-task-1', status: { state: 'completed' } },
    });
  });

  it('names the task by the message, else by the topic, else by the request id', async () => {
    const { ask, on } = await client();
    await ask(real('rpc-1', 'x', { taskId: 'named' }), to('by-topic'));
    await ask(real('rpc-2', 'x'), { clientId: 'plain' });
    await eventually(() => expect([on('gateway/response/gw_123/by-topic').length, on('client/response/plain').length]).toEqual([1, 1]));
    expect(on('gateway/response/gw_123/by-topic')[0]?.body).toMatchObject({ id: 'rpc-1', result: { id: 'named' } });
    expect(on('client/response/plain')[0]?.body).toMatchObject({ id: 'rpc-2', result: { id: 'rpc-2' } });
  });

  it('B2: that sends everything twice causes one run, and gets a response each time', async () => {
    const { ask, on, served } = await client();
    const twice = real('dup', 'chunks=1');
    await Promise.all([ask(twice, to('dup'), 'script'), ask(twice, to('dup'), 'script')]);
    await eventually(() => expect(on('gateway/response/gw_123/dup').length).toBeGreaterThan(0));
    await ask(twice, to('dup'), 'script');
    await eventually(() => expect(on('gateway/response/gw_123/dup').length).toBeGreaterThan(1));
    const { tasks } = await served.engine.admin.tasks({});
    expect(tasks.length).toBe(1);
  });

  it('cancels a task and gets it as canceled', async () => {
    const { ask, on } = await client();
    await ask(real('long', 'sleep=60000'), to('long'), 'script');
    await eventually(() => expect(on('gateway/status/gw_123/long').length).toBe(1));
    await ask(
      { jsonrpc: '2.0', id: 'c1', method: 'tasks/cancel', params: { id: 'long' } },
      { clientId: 'gw_123', userId: 'ann' },
      'script',
    );
    await eventually(() => expect(on('gateway/response/gw_123/long')[0]?.body.result?.status?.state).toBe('canceled'));
  });

  it('can’t cancel the task of another user', async () => {
    const { ask, on } = await client();
    await ask(real('mine', 'sleep=3000'), to('mine'), 'script');
    await eventually(() => expect(on('gateway/status/gw_123/mine').length).toBe(1));
    await ask(
      { jsonrpc: '2.0', id: 'c1', method: 'tasks/cancel', params: { id: 'mine' } },
      { clientId: 'gw_123', userId: 'eve' },
      'script',
    );
    await eventually(() => expect(on('gateway/response/gw_123/mine')[0]?.body.result?.status?.state).toBe('completed'));
  });

  it('B8: can’t make a node publish outside of the response topics of the namespace', async () => {
    const { ask, broker, served, heard } = await client();
    const stray: string[] = [];
    await broker.subscribe({ filter: 'elsewhere/#', handle: ({ topic }) => void stray.push(topic) });
    await broker.subscribe({ filter: `${BASE}/agent/request/other`, handle: ({ topic }) => void stray.push(topic) });
    const bad = [
      'elsewhere/a2a/v1/gateway/response/x/y',
      `${BASE}/agent/request/other`,
      `${BASE}/gateway/response/+/y`,
      `${BASE}/discovery/agentcards`,
    ];
    for (const topic of bad) await ask(real('x', 'x'), { replyTo: topic });
    await ask(real('y', 'x'), to('y', { a2aStatusTopic: 'elsewhere/status' }));
    await eventually(() => expect(served.mesh.counts.dropped).toBe(bad.length + 1));
    expect([stray, heard]).toEqual([[], []]);
  });

  it('gets an error for a malformed request that names a response topic', async () => {
    const { ask, on, served } = await client();
    const malformed: readonly [unknown, number][] = [
      ['{', -32700],
      ['[]', -32600],
      [{ jsonrpc: '2.0', method: 'message/send', params: {} }, -32600],
      [{ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: { role: 'user', parts: [] } } }, -32602],
      [{ jsonrpc: '2.0', id: 2, method: 'message/send' }, -32602],
    ];
    for (const [body] of malformed) await ask(body, to('bad'));
    await eventually(() => expect(on('gateway/response/gw_123/bad').length).toBe(malformed.length));
    const codes = on('gateway/response/gw_123/bad').map(({ body }) => body.error?.code ?? 0);
    expect(codes.toSorted()).toEqual(malformed.map(([, code]) => code).toSorted());
    expect(served.mesh.counts.refused).toBe(malformed.length);
    await ask(real('fine', 'x'), to('fine'));
    await eventually(() => expect(on('gateway/response/gw_123/fine').length).toBe(1));
  });

  it('gets errors for an unknown method, an unknown task and too many delegations', async () => {
    const { ask, on } = await client();
    await ask({ jsonrpc: '2.0', id: 9, method: 'tasks/list', params: {} }, to('none'));
    await ask({ jsonrpc: '2.0', id: 10, method: 'tasks/cancel', params: { id: 'nobody' } }, { clientId: 'plain' });
    await eventually(() => expect(on('gateway/response/gw_123/none')[0]?.body).toMatchObject({ id: 9, error: { code: -32601 } }));
    await eventually(() => expect(on('client/response/plain')[0]?.body).toMatchObject({ id: 10, error: { code: -32001 } }));
    await ask(real('deep', 'x'), to('deep', { callDepth: '11' }));
    await ask(real('word', 'x'), to('word', { callDepth: 'many' }));
    await ask(real('ten', 'x'), to('ten', { callDepth: '10' }));
    await eventually(() =>
      expect([
        on('gateway/response/gw_123/deep').length,
        on('gateway/response/gw_123/word').length,
        on('gateway/response/gw_123/ten').length,
      ]).toEqual([1, 1, 1]),
    );
    expect([on('gateway/response/gw_123/deep')[0]?.body.error?.code, on('gateway/response/gw_123/ten')[0]?.body.error]).toEqual([
      -32600,
      undefined,
    ]);
  });
});
