import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handlerOf, jsonRequest } from '../support/server.ts';

/** HTTP+JSON of A2A 0.3, as the clients of its SDKs read errors and lists. */
const BASE = 'http://localhost/v1';
const handler = handlerOf();
afterAll(() => handler.close());

const get = async (path: string): Promise<Response> => await handler.fetch(new Request(`${BASE}${path}`));
const post = async (path: string, body: object): Promise<Response> => await handler.fetch(jsonRequest(`${BASE}${path}`, body));

interface ListedTask {
  readonly id: string;
  readonly status: { readonly timestamp: string };
}

async function made(contextId?: string): Promise<ListedTask & { readonly contextId: string }> {
  const context = contextId === undefined ? {} : { contextId };
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', content: [{ text: 'hello' }], ...context };
  return (await (await post('/message:send', { message })).json()).task;
}

describe('an error has what each SDK looks for', () => {
  /** The HTTP status, its name in gRPC, the code of JSON-RPC and the class of Python. */
  const errors: readonly (readonly [
    title: string,
    call: () => Promise<Response>,
    status: number,
    name: string,
    code: number,
    type: string,
  ])[] = [
    ['a get of an unknown task', () => get('/tasks/nope'), 404, 'NOT_FOUND', -32001, 'TaskNotFoundError'],
    ['a cancel of an unknown task', () => post('/tasks/nope:cancel', {}), 404, 'NOT_FOUND', -32001, 'TaskNotFoundError'],
    [
      'a cancel of a finished task',
      async () => await post(`/tasks/${(await made()).id}:cancel`, {}),
      409,
      'FAILED_PRECONDITION',
      -32002,
      'TaskNotCancelableError',
    ],
    ['a send without a message', () => post('/message:send', {}), 400, 'INVALID_ARGUMENT', -32602, 'InvalidParamsError'],
    ['a stream without a message', () => post('/message:stream', {}), 400, 'INVALID_ARGUMENT', -32602, 'InvalidParamsError'],
  ];
  for (const [title, call, status, name, code, type] of errors) {
    it(title, async () => {
      const response = await call();
      const body = await response.json();
      expect(response.status).toBe(status);
      // Python 0.3 looks for `type`, JavaScript 0.3 for `code` and `message`.
      expect(body).toMatchObject({ type, code, message: expect.any(String) });
      // Go 2.4 and Java 0.3.3 look for `error`; Go reads it as 1.0 has it.
      expect(body.error).toMatchObject({ code: status, status: name, message: body.message });
      expect(body.error.details).toEqual(
        expect.arrayContaining([expect.objectContaining({ '@type': expect.stringContaining('ErrorInfo') })]),
      );
    });
  }
});

describe('a list', () => {
  let tasks: readonly ListedTask[];
  let context: string;
  beforeAll(async () => {
    const first = await made();
    context = first.contextId;
    tasks = [first, await made(context), await made(context)];
  });
  const page = async (query: string) => await (await get(`/tasks?contextId=${context}&${query}`)).json();
  const idsOf = (listed: readonly ListedTask[]): readonly string[] => listed.map(({ id }) => id).toSorted();

  it('comes in pages, each with the token of the next', async () => {
    const first = await page('pageSize=2');
    expect(first).toMatchObject({ totalSize: 3, nextPageToken: expect.stringMatching(/./) });
    const second = await page(`pageSize=2&pageToken=${encodeURIComponent(first.nextPageToken)}`);
    expect(second.nextPageToken ?? '').toBe('');
    expect(idsOf([...first.tasks, ...second.tasks])).toEqual(idsOf(tasks));
  });

  it('has the tasks that changed after a date of RFC 3339, with a zone or without fractions', async () => {
    expect(idsOf((await page('lastUpdatedAfter=2020-01-01T00:00:00Z')).tasks)).toEqual(idsOf(tasks));
    expect(idsOf((await page(`lastUpdatedAfter=${encodeURIComponent('2020-01-01T02:00:00.5+02:00')}`)).tasks)).toEqual(idsOf(tasks));
    expect((await page('lastUpdatedAfter=2999-01-01T00:00:00Z')).tasks).toEqual([]);
  });

  it('of a date that is none is refused', async () => {
    const response = await get('/tasks?lastUpdatedAfter=yesterday');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'InvalidParamsError', error: { status: 'INVALID_ARGUMENT' } });
  });
});
