import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonRpcLink, platformFetch, restLink } from '#bindings';
import type { A2AService, EventStream, SendRequest, Task, TaskEvent, TaskId } from '#protocol';
import { createUserMessage, externalId, isTerminal, seq, taskId } from '#protocol';
import { grpcLink } from '../../src/bindings/grpc/link.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { callContext, dialectOf } from '../support/calls.ts';
import { eventually } from '../support/eventually.ts';
import { startServer } from '../support/server.ts';
import { textOf } from '../support/talk.ts';
import { WIRES, type Wired } from '../support/wires.ts';

/** One node, and a task that is made in one binding and used in another. */
let server: NodeServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const GRPC = ['v10', 'v03.rest'];
const ctx = callContext();

function overGrpc(id: string): A2AService {
  return grpcLink({ url: server.url, dialect: dialectOf(id), fetch: platformFetch });
}

/** The node in a dialect of JSON, which the query names. */
function over({ binding, dialect }: Wired): A2AService {
  const fetchIn = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    url.searchParams.set('dialect', dialect.id);
    return await fetch(new Request(url, request));
  };
  const options = { dialect, fetch: fetchIn };
  return binding === 'rpc' ? jsonRpcLink({ ...options, url: `${server.url}/a2a` }) : restLink({ ...options, url: server.url });
}

const LONG = 'chunks=100000 delay=20';
let names = 0;

function request(wire?: Wired): SendRequest {
  names += 1;
  const named = wire?.dialect.traits.callerNamesTask === true ? { alias: externalId(`mine-${names}`) } : {};
  return { message: createUserMessage(LONG), ...named };
}

/** A task that works until it is canceled: its id as the node names it. */
async function working(service: A2AService): Promise<TaskId> {
  for await (const batch of service.stream(request(), ctx)) {
    for (const { event } of batch) {
      const id = idOf(event);
      if (id !== undefined) return taskId(id);
    }
  }
  throw new Error('the stream names no task');
}

function idOf({ task, statusUpdate, artifactUpdate }: TaskEvent): string | undefined {
  return task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId;
}

/** The sequence numbers of a stream, until this one. */
async function numbers(events: EventStream, until: number): Promise<readonly number[]> {
  const seen: number[] = [];
  for await (const batch of events) {
    seen.push(...batch.map(({ seq: at }) => at ?? 0));
    if ((seen.at(-1) ?? 0) >= until) break;
  }
  return seen;
}

async function canceled(service: A2AService, id: TaskId): Promise<Task> {
  await eventually(async () => expect(isTerminal((await service.get({ id }, ctx)).status.state)).toBe(true));
  const task = await service.get({ id }, ctx);
  expect(task.status.state).toBe('TASK_STATE_CANCELED');
  return task;
}

/** Dialects whose callers name their tasks know no other ids. */
const CALLABLE = WIRES.filter(({ dialect, has }) => !dialect.traits.callerNamesTask && has('get') && has('stream'));
const NAMING = WIRES.filter(({ dialect, has }) => dialect.traits.callerNamesTask && has('get') && has('send'));

it('covers the dialects of this package', () => {
  expect(CALLABLE.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'v10 over JSON-RPC',
      'v10 over HTTP+JSON',
      'v03 over JSON-RPC',
      'v03.rest over HTTP+JSON',
      'v02 over JSON-RPC',
    ]),
  );
  expect(NAMING.length).toBeGreaterThan(0);
});

describe.each(GRPC)('a task made over gRPC (%s)', (id) => {
  it.each(CALLABLE)('is read and canceled in $name', async (wire) => {
    const [link, grpc] = [over(wire), overGrpc(id)];
    const made = await working(grpc);
    expect((await link.get({ id: made }, ctx)).status.state).toBe('TASK_STATE_WORKING');
    await (wire.has('cancel') ? link : grpc).cancel({ id: made }, ctx);
    const task = await canceled(grpc, made);
    expect(textOf(await link.get({ id: made }, ctx))).toBe(textOf(task));
  });

  it.each(CALLABLE.filter(({ has }) => has('subscribe')))('is resumed after its third event in $name', async (wire) => {
    const [link, grpc] = [over(wire), overGrpc(id)];
    const made = await working(grpc);
    await numbers(grpc.subscribe({ id: made }, ctx), 7);
    const seen = await numbers(link.subscribe({ id: made, after: seq(3) }, ctx), 6);
    expect(seen.filter((at) => at > 3).slice(0, 3)).toEqual([4, 5, 6]);
    await grpc.cancel({ id: made }, ctx);
  });

  it.each(GRPC)('is resumed and canceled over gRPC (%s)', async (other) => {
    const link = overGrpc(other);
    const made = await working(overGrpc(id));
    await numbers(link.subscribe({ id: made }, ctx), 7);
    expect((await numbers(link.subscribe({ id: made, after: seq(3) }, ctx), 6)).slice(0, 4)).toEqual([3, 4, 5, 6]);
    await link.cancel({ id: made }, ctx);
    await canceled(overGrpc(id), made);
  });
});

describe.each(CALLABLE)('a task made in $name', (wire) => {
  it.each(GRPC)('is read, resumed after its third event, and canceled over gRPC (%s)', async (id) => {
    const link = overGrpc(id);
    const made = await working(over(wire));
    expect((await link.get({ id: made }, ctx)).status.state).toBe('TASK_STATE_WORKING');
    await numbers(link.subscribe({ id: made }, ctx), 7);
    // The position itself is the snapshot; the events after it follow without a gap.
    expect((await numbers(link.subscribe({ id: made, after: seq(3) }, ctx), 6)).slice(0, 4)).toEqual([3, 4, 5, 6]);
    await link.cancel({ id: made }, ctx);
    const task = await canceled(link, made);
    expect(textOf(await over(wire).get({ id: made }, ctx))).toBe(textOf(task));
  });
});

describe.each(NAMING)('a task made in $name, under the caller’s name', (wire) => {
  it.each(GRPC)('is found, read and canceled over gRPC (%s)', async (id) => {
    const [link, grpc] = [over(wire), overGrpc(id)];
    const asked = request(wire);
    const before = new Set((await overGrpc('v10').list({ pageSize: 100 }, ctx)).tasks.map((task) => task.id));
    const sending = link.send({ ...asked, configuration: { returnImmediately: true } }, ctx).catch(() => undefined);
    let made: TaskId | undefined;
    await eventually(async () => {
      made = (await overGrpc('v10').list({ pageSize: 100 }, ctx)).tasks.find((task) => !before.has(task.id))?.id;
      expect(made).toBeDefined();
    });
    await grpc.cancel({ id: made ?? taskId('none') }, ctx);
    await canceled(grpc, made ?? taskId('none'));
    await sending;
    const own = await link.get({ id: taskId(asked.alias ?? '') }, ctx);
    expect(own.status.state).toBe('TASK_STATE_CANCELED');
  });
});
