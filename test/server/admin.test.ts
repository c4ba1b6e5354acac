import { afterAll, describe, expect, it } from 'vitest';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

const BASE = 'http://localhost';
const handler = handlerOf();
afterAll(() => handler.close());

const call = async (method: string, path: string): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> => {
  const response = await handler.fetch(new Request(`${BASE}/api/parley/v1${path}`, { method }));
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
};
const send = async (text: string, agent = 'script'): Promise<{ id: string; contextId: string }> => {
  const response = await handler.fetch(
    jsonRequest(`${BASE}/agents/${agent}/message:send`, sendBody(text, { configuration: { returnImmediately: text.includes('sleep') } })),
  );
  return ((await response.json()) as { task: { id: string; contextId: string } }).task;
};

describe('the admin API', () => {
  it('lists the tasks of all agents, with filters', async () => {
    const one = await send('fail');
    await send('x', 'echo');
    const { status, body, headers } = await call('GET', '/tasks');
    expect([status, headers.get('cache-control'), body['totalSize']]).toEqual([200, 'no-store', 2]);
    const ids = async (query: string): Promise<unknown[]> =>
      ((await call('GET', `/tasks?${query}`)).body['tasks'] as { id: string }[]).map(({ id }) => id);
    expect(await ids('agent=script')).toEqual([one.id]);
    expect(await ids('status=TASK_STATE_FAILED')).toEqual([one.id]);
    expect(await ids(`contextId=${one.contextId}`)).toEqual([one.id]);
    expect(await ids('principal=nobody')).toEqual([]);
    expect(await ids('principal=local&pageSize=1')).toHaveLength(1);
    expect(await ids('statusTimestampAfter=2999-01-01T00:00:00Z')).toEqual([]);
    const first = await call('GET', '/tasks?pageSize=1');
    expect(await ids(`pageSize=1&pageToken=${encodeURIComponent(String(first.body['nextPageToken']))}`)).toEqual([one.id]);
  });

  it('lists the nodes on the same database, if there are any', async () => {
    expect((await call('GET', '/replicas')).body).toEqual({ replicas: null });
    const one = {
      id: 7,
      url: 'http://10.0.0.5:4001',
      startedAt: '2026-11-16T10:00:00.000Z',
      leaseMs: 9000,
      cells: 2,
      owned: [3, 9],
      isThis: true,
    };
    const replicated = handlerOf({ replicas: async () => [{ ...one, forwards: 3, takeovers: 1 }] });
    const response = await replicated.fetch(new Request(`${BASE}/api/parley/v1/replicas`));
    expect(await response.json()).toEqual({ replicas: [{ ...one, forwards: 3, takeovers: 1 }] });
    await replicated.close();
  });

  it('finds tasks by their words, page by page', async () => {
    const one = await send('Zebra crossing', 'echo');
    const two = await send('a zebra, again', 'echo');
    const found = async (query: string): Promise<Record<string, unknown>> => (await call('GET', `/search?${query}`)).body;
    expect(await found('text=zebra')).toMatchObject({
      tasks: [
        {
          id: two.id,
          agent: 'echo',
          snippet: { text: expect.stringContaining('a zebra, again'), marks: expect.arrayContaining([[2, 7]]) },
        },
        { id: one.id },
      ],
      nextPageToken: '',
    });
    expect(await found('text=%22zebra+crossing%22')).toMatchObject({ tasks: [{ id: one.id }] });
    expect(await found('text=zeb*&agent=script')).toMatchObject({ tasks: [] });
    expect(await found(`text=zeb*&contextId=${one.contextId}`)).toMatchObject({ tasks: [{ id: one.id }] });
    const first = await found('text=zebra&pageSize=1');
    expect(first).toMatchObject({ tasks: [{ id: two.id }] });
    const token = encodeURIComponent(String(first['nextPageToken']));
    expect(await found(`text=zebra&pageSize=1&pageToken=${token}`)).toMatchObject({ tasks: [{ id: one.id }], nextPageToken: '' });
    for (const query of ['', 'text=', 'text=*', 'text=x&pageSize=101', 'text=x&words=y', `text=other&pageToken=${token}`])
      expect([query, (await call('GET', `/search?${query}`)).status]).toEqual([query, 400]);
    await call('DELETE', `/tasks/${one.id}`);
    expect(await found('text=zebra')).toMatchObject({ tasks: [{ id: two.id }] });
  });

  it('shows a task and its events', async () => {
    const { id } = await send('chunks=4');
    expect((await call('GET', `/tasks/${id}`)).body).toMatchObject({
      id,
      agent: 'script',
      principal: 'local',
      state: 'TASK_STATE_COMPLETED',
      task: { artifacts: [{}] },
    });
    const events = async (query = ''): Promise<number[]> =>
      ((await call('GET', `/tasks/${id}/events${query}`)).body['events'] as { seq: number }[]).map(({ seq }) => seq);
    expect(await events()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await events('?after=3&limit=2')).toEqual([4, 5]);
  });

  it('retries a task by sending its last message again', async () => {
    const { id, contextId } = await send('fail');
    const { status, body } = await call('POST', `/tasks/${id}:retry`);
    expect([status, body['contextId'], body['id'] === id]).toEqual([201, contextId, false]);
    const running = await send('sleep=60000');
    expect((await call('POST', `/tasks/${running.id}:retry`)).status).toBe(400);
    await call('DELETE', `/tasks/${running.id}`);
  });

  it('waits for new events, and cancels a task', async () => {
    const { id } = await send('sleep=60000');
    const known = ((await call('GET', `/tasks/${id}/events`)).body['events'] as unknown[]).length;
    expect((await call('GET', `/tasks/${id}/events?after=${known}&waitMs=50`)).body['events']).toEqual([]);
    const later = call('GET', `/tasks/${id}/events?after=${known}&waitMs=20000`);
    expect((await call('POST', `/tasks/${id}:cancel`)).body['state']).toBe('TASK_STATE_CANCELED');
    expect((await later).body['events']).toHaveLength(1);
    expect((await call('POST', `/tasks/${id}:cancel`)).body['state']).toBe('TASK_STATE_CANCELED');
  });

  it('lists open questions and answers one', async () => {
    const answer = async (id: string, body: string): Promise<number> =>
      (
        await handler.fetch(
          new Request(`${BASE}/api/parley/v1/approvals/${id}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }),
        )
      ).status;
    const { id } = await send('ask');
    expect((await call('GET', '/approvals')).body['approvals']).toMatchObject([{ id, kind: 'input', agent: 'script', choices: [] }]);
    expect(await answer(id, '{"optionId":"allow"}')).toBe(400);
    expect(await answer(id, '{}')).toBe(400);
    expect(await answer(id, '{"text":1}')).toBe(400);
    expect(await answer(id, 'yes')).toBe(400);
    expect(await answer('none', '{"text":"x"}')).toBe(404);
    expect(await answer(id, '{"text":"forty-two"}')).toBe(200);
    expect((await call('GET', '/approvals')).body['approvals']).toEqual([]);
    expect(await answer(id, '{"text":"again"}')).toBe(400);
  });

  it('shows health samples and log lines', async () => {
    const { body } = await call('GET', '/health');
    expect((body['samples'] as { calls: number }[]).at(-1)?.calls).toBeGreaterThan(0);
    expect(Array.isArray((await call('GET', '/logs?limit=5')).body['lines'])).toBe(true);
  });

  it('forwards no request without outbound access or to an invalid URL', async () => {
    expect((await call('POST', '/relay?url=https://agent.example')).status).toBe(400);
  });

  it('deletes tasks, running ones too', async () => {
    const { id } = await send('sleep=60000');
    expect((await call('DELETE', `/tasks/${id}`)).status).toBe(204);
    expect((await call('GET', `/tasks/${id}`)).status).toBe(404);
    expect((await handler.fetch(new Request(`${BASE}/tasks/${id}`))).status).toBe(404);
  });

  it('refuses invalid requests with the reason', async () => {
    const wrong: readonly (readonly [method: string, path: string, status: number])[] = [
      ['GET', '/tasks/none', 404],
      ['GET', '/tasks/none/events', 404],
      ['POST', '/tasks/none:retry', 404],
      ['DELETE', '/tasks/none', 404],
      ['GET', '/tasks?status=done', 400],
      ['GET', '/tasks?state=TASK_STATE_FAILED', 400],
      ['GET', '/tasks?pageSize=-1', 400],
      ['GET', '/tasks?pageSize=1e9', 400],
      ['GET', '/tasks?pageToken=forged', 400],
      ['GET', '/tasks?statusTimestampAfter=yesterday', 400],
      ['GET', '/tasks/%zz', 400],
      ['GET', '/nothing', 404],
      ['GET', '', 404],
      ['DELETE', '/tasks', 405],
      ['GET', '/tasks/x:retry', 405],
    ];
    for (const [method, path, status] of wrong) {
      const answer = await call(method, path);
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expect(answer.body['error']).toMatchObject({ code: status });
    }
    expect(JSON.stringify((await call('GET', '/tasks?pageSize=x')).body)).toContain('pageSize must be a whole number');
    expect((await call('DELETE', '/tasks')).headers.get('allow')).toBe('GET');
  });
});
