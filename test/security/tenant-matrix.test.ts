import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import { timeOrderedIds } from '#engine';
import type { Dialect, Json, Operation, Requests, Shapes } from '#protocol';
import { contextId, DIALECTS, externalId, messageId, pushConfigId, taskId, tenantId } from '#protocol';
import { createOutbound } from '../../src/server/adapters/outbound.ts';
import { expectFigure } from '../support/figures.ts';
import { keysOf } from '../support/key-ring.ts';
import { restCall } from '../support/rest.ts';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

/**
 * docs/faults.md, S2: every operation on an object of another user, of another tenant, and on one that does not exist, in every dialect and
 * binding. The response to the last is what the first two must get, to the byte, except for the ids that the caller sent.
 */
const SECRET = 'the launch code is 0000';
const keys = keysOf([{ name: 'ann', tenant: 'acme' }, { name: 'bob', tenant: 'acme' }, { name: 'ann', tenant: 'globex' }, { name: 'ann' }]);
const STRANGERS = { 'another user': 1, 'another tenant': 2, 'the same name without a tenant': 3 } as const;
const agent = defineAgent({
  name: 'keeper',
  description: 'keeps secrets',
  capabilities: { pushNotifications: true },
  async *run(turn) {
    yield turn.text;
    if (turn.text.includes('wait')) yield* asking(turn);
  },
});

async function* asking(turn: Parameters<Parameters<typeof defineAgent>[0]['run']>[0]): AsyncGenerator<string> {
  yield (await turn.ask('continue?')).text;
}

const outbound = createOutbound({ allowLoopbackTargets: true });
const handler = handlerOf({ agents: agent, auth: [keys.auth], outbound, limits: { requestsPerSecondMax: 0 } });
afterAll(async () => {
  await handler.close();
  await outbound.close();
});

interface Things {
  /** Finished. */
  readonly task: string;
  /** In input-required. */
  readonly waiting: string;
  readonly context: string;
  readonly config: string;
  readonly pageToken: string;
}

const call = (who: number, request: Request): Promise<Response> => {
  request.headers.set('Authorization', `Bearer ${keys.key(who)}`);
  return handler.fetch(request);
};
const BASE = 'http://localhost';

/** The objects of ann, of the tenant acme. */
async function makeThings(): Promise<Things> {
  const send = async (text: string): Promise<{ id: string; contextId: string }> =>
    ((await (await call(0, jsonRequest(`${BASE}/message:send`, sendBody(text)))).json()) as { task: { id: string; contextId: string } })
      .task;
  const { id: task, contextId: context } = await send(SECRET);
  const { id: waiting } = await send(`wait, ${SECRET}`);
  const push = await call(0, jsonRequest(`${BASE}/tasks/${task}/pushNotificationConfigs`, { url: 'http://127.0.0.1:9/x' }));
  const { id: config } = (await push.json()) as { id: string };
  const page = (await (await call(0, new Request(`${BASE}/tasks?pageSize=1`))).json()) as { nextPageToken: string };
  return { task, waiting, context, config, pageToken: page.nextPageToken };
}

/** Unknown ids in the format of real ones, so that lengths are equal too. */
const { next: unknown } = timeOrderedIds();
const NOBODYS: Things = { task: unknown(), waiting: unknown(), context: unknown(), config: unknown(), pageToken: 'forged' };

type Wanted = { readonly [Op in Operation]?: (things: Things) => Requests[Op] };
const message = (text: string, more: object = {}): Requests['send']['message'] => ({
  messageId: messageId(crypto.randomUUID()),
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});

/** Every way to refer to an object of another caller. */
const NAMED: Readonly<Record<string, Wanted>> = {
  'a finished task': {
    get: ({ task }) => ({ id: taskId(task) }),
    cancel: ({ task }) => ({ id: taskId(task) }),
    subscribe: ({ task }) => ({ id: taskId(task) }),
    send: ({ task }) => ({ message: message('more', { taskId: taskId(task) }) }),
    stream: ({ task }) => ({ message: message('more', { taskId: taskId(task) }) }),
    'push.create': ({ task }) => ({ taskId: taskId(task), id: pushConfigId('mine'), url: 'http://127.0.0.1:9/y' }),
    'push.get': ({ task, config }) => ({ taskId: taskId(task), id: pushConfigId(config) }),
    'push.list': ({ task }) => ({ taskId: taskId(task) }),
    'push.delete': ({ task, config }) => ({ taskId: taskId(task), id: pushConfigId(config) }),
  },
  'a task that waits': {
    get: ({ waiting }) => ({ id: taskId(waiting) }),
    subscribe: ({ waiting }) => ({ id: taskId(waiting) }),
    send: ({ waiting }) => ({ message: message('yes', { taskId: taskId(waiting) }) }),
    stream: ({ waiting }) => ({ message: message('yes', { taskId: taskId(waiting) }) }),
    cancel: ({ waiting }) => ({ id: taskId(waiting) }),
  },
  'a name for a task': { send: ({ task }) => ({ alias: externalId(task), message: message('mine') }) },
  'a context': {
    send: ({ context }) => ({ message: message('here?', { contextId: contextId(context) }) }),
    stream: ({ context }) => ({ message: message('here?', { contextId: contextId(context) }) }),
    list: ({ context }) => ({ contextId: contextId(context) }),
  },
  'a reference': { send: ({ task }) => ({ message: message('about it', { referenceTaskIds: [taskId(task)] }) }) },
  'a page token': { list: ({ pageToken }) => ({ pageSize: 1, pageToken }) },
  'a tenant in the request': {
    get: ({ task }) => ({ id: taskId(task), tenant: tenantId('acme') }),
    list: () => ({ tenant: tenantId('acme') }),
    send: ({ task }) => ({ tenant: tenantId('acme'), message: message('more', { taskId: taskId(task) }) }),
  },
};

/** A request in a dialect, over JSON-RPC or HTTP+JSON. Undefined if the dialect can't express it. */
function requestFor(dialect: Dialect, operation: Operation, request: unknown): Request | undefined {
  let raw: Json;
  try {
    raw = dialect.encode(`${operation}.request` as keyof Shapes, request as never);
  } catch {
    return undefined;
  }
  const version = dialect.wire.versionHeader;
  const headers = version === undefined ? {} : { 'A2A-Version': version };
  if (dialect.rest !== undefined && Object.keys(dialect.methods).length === 0) return restRequest(dialect, operation, raw);
  const method = dialect.methods[operation];
  if (method === undefined) return undefined;
  return jsonRequest(`${BASE}/a2a?dialect=${dialect.id}`, { jsonrpc: '2.0', id: crypto.randomUUID(), method, params: raw }, headers);
}

function restRequest({ rest, id }: Dialect, operation: Operation, raw: Json): Request | undefined {
  if (rest === undefined || !rest.routes.some((route) => route.operation === operation)) return undefined;
  const { verb, path, body } = restCall(rest, operation, raw);
  const url = `${BASE}${path}${path.includes('?') ? '&' : '?'}dialect=${id}`;
  return verb === 'POST' ? jsonRequest(url, body) : new Request(url, { method: verb });
}

interface Said {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** The response without the ids that the caller sent and those that are new each time. */
async function said(response: Response, sent: readonly Things[]): Promise<Said> {
  const own = sent.flatMap((things) => Object.values(things) as string[]).filter((id) => id !== '');
  const fresh = /[0-9a-z]{9}-[0-9a-v]{26}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-\d+)?|\d{4}-\d\d-\d\dT[\d:.]+Z/g;
  const text = own.reduce((body, id) => body.replaceAll(id, 'SENT'), await response.text());
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id').map(([name, value]) => `${name}: ${value}`);
  return { status: response.status, headers: headers.join('\n'), body: text.replaceAll(fresh, 'NEW') };
}

const withRest = [
  ...DIALECTS,
  ...DIALECTS.filter(({ rest, methods }) => rest !== undefined && Object.keys(methods).length > 0).map((dialect) => ({
    ...dialect,
    methods: {},
  })),
];

describe('S2: an object of another caller', () => {
  let things: Things;
  beforeAll(async () => {
    things = await makeThings();
  });
  let compared = 0;

  // Before the sends below: 0.1 and Society let a caller name a task of its own with any id, also with this one.
  it('can’t be followed with a cursor', async () => {
    for (const at of Object.values(STRANGERS)) {
      const ask = async (from: Things): Promise<Said> => {
        const request = new Request(`${BASE}/tasks/${from.waiting}:subscribe`, { method: 'POST', headers: { 'Last-Event-ID': '1' } });
        return said(await call(at, request), [things, NOBODYS]);
      };
      const theirs = await ask(things);
      expect(theirs).toEqual(await ask(NOBODYS));
      expect(theirs.status).toBe(404);
    }
  });

  for (const dialect of withRest) {
    const isRest = Object.keys(dialect.methods).length === 0;
    for (const [what, wanted] of Object.entries(NAMED)) {
      it(`looks unknown: ${what} in ${dialect.id}${isRest ? ' over HTTP+JSON' : ''}`, async () => {
        for (const [operation, make] of Object.entries(wanted) as [Operation, (from: Things) => unknown][]) {
          if (requestFor(dialect, operation, make(things)) === undefined) continue;
          for (const [who, at] of Object.entries(STRANGERS)) {
            const ask = async (from: Things): Promise<Said> =>
              said(await call(at, requestFor(dialect, operation, make(from)) as Request), [things, NOBODYS]);
            const [theirs, nobodys] = [await ask(things), await ask(NOBODYS)];
            expect([operation, who, theirs]).toEqual([operation, who, nobodys]);
            expect(theirs.body).not.toContain(SECRET);
            compared += 1;
          }
        }
      });
    }
  }

  it('was requested in every dialect and is unchanged', async () => {
    expect(compared).toBeGreaterThan(400);
    const mine = async (path: string): Promise<Record<string, unknown>> =>
      (await (await call(0, new Request(`${BASE}${path}`))).json()) as Record<string, unknown>;
    expect(await mine(`/tasks/${things.task}`)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, history: [{}] });
    expect(await mine(`/tasks/${things.waiting}`)).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(await mine(`/tasks/${things.task}/pushNotificationConfigs`)).toMatchObject({ configs: [{ id: things.config }] });
    expect(await mine('/tasks')).toMatchObject({ totalSize: 2 });
    expect(await mine(`/tasks?pageSize=1&pageToken=${encodeURIComponent(things.pageToken)}`)).toMatchObject({ tasks: [{}] });
  });

  it('takes as long to refuse as an unknown one', async () => {
    const medianOf = async (id: string): Promise<number> => {
      const times: number[] = [];
      for (let at = 0; at < 300; at += 1) {
        const began = performance.now();
        await (await call(1, new Request(`${BASE}/tasks/${id}`))).text();
        times.push(performance.now() - began);
      }
      return times.sort((a, b) => a - b)[150] ?? 0;
    };
    const gaps: number[] = [];
    await medianOf(NOBODYS.task);
    for (let round = 0; round < 5; round += 1) gaps.push((await medianOf(things.task)) / (await medianOf(NOBODYS.task)) - 1);
    // The smallest of five gaps: other work on the machine causes gaps too, but a real difference shows every time.
    expectFigure(Math.min(...gaps.map(Math.abs)), { below: 0.05 });
  });
});

describe('the tenant', () => {
  it('comes from the credential: a request that names another tenant is refused', async () => {
    const asked = async (path: string): Promise<Response> => call(1, new Request(`${BASE}${path}`));
    for (const path of ['/globex/tasks', '/globex/tasks/x', '/globex/extendedAgentCard']) {
      const response = await asked(path);
      expect([path, response.status, await response.text()]).toEqual([
        path,
        403,
        expect.stringContaining('does not belong to that tenant'),
      ]);
    }
    expect((await asked('/acme/tasks')).status).toBe(200);
  });

  it('gives no access to the admin API, which has its own scope', async () => {
    expect((await call(0, new Request(`${BASE}/api/parley/v1/tasks`))).status).toBe(403);
  });
});
