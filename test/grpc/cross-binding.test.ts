import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformFetch } from '#bindings';
import type { A2AService, EventStream, Task, TaskEvent } from '#protocol';
import { createUserMessage, seq } from '#protocol';
import { grpcLink } from '../../src/bindings/grpc/link.ts';
import { callContext, dialectOf } from '../support/calls.ts';
import type { GrpcJsServer } from '../support/grpc-js-server.ts';
import { grpcJsServer } from '../support/grpc-js-server.ts';
import { builtIn } from '../support/server.ts';
import type { Talk } from '../support/talk.ts';
import { talkTo, textOf } from '../support/talk.ts';
import { callerOver, WIRES, type Wired } from '../support/wires.ts';

let talk: Talk;
const servers: GrpcJsServer[] = [];
/** The agent over gRPC, by dialect. */
const links = new Map<string, A2AService>();
beforeAll(async () => {
  talk = await talkTo(builtIn('script'));
  for (const [version, id] of [
    ['1.0', 'v10'],
    ['0.3', 'v03.rest'],
  ] as const) {
    const server = await grpcJsServer(talk.service, { version });
    servers.push(server);
    links.set(id, grpcLink({ url: `http://${server.address}`, dialect: dialectOf(id), fetch: platformFetch }));
  }
});
afterAll(async () => {
  for (const server of servers) server.close();
  await talk.stop();
});

const GRPC = ['v10', 'v03.rest'];
const ctx = callContext();

function overGrpc(id: string): A2AService {
  const link = links.get(id);
  if (link === undefined) throw new Error(`no gRPC of ${id}`);
  return link;
}

/** A task that works until it is canceled. */
async function working(service: A2AService, wire?: Wired): Promise<Task> {
  const configuration = { returnImmediately: true };
  const message = createUserMessage('chunks=100000 delay=20');
  const request = wire === undefined ? { message } : { ...callerOver(wire).request('', {}), message };
  const events = service.stream({ ...request, configuration }, ctx);
  return await talkTask(await firstTask(events));
}

/** The task under the id that the engine gave it: some dialects show the caller's own name instead. */
async function talkTask(shown: string): Promise<Task> {
  return await talk.service.get({ id: shown as Task['id'] }, ctx);
}

async function firstTask(events: EventStream): Promise<string> {
  for await (const batch of events) {
    for (const { event } of batch) {
      const id = idOf(event);
      if (id !== undefined) return id;
    }
  }
  throw new Error('the stream names no task');
}

function idOf({ task, statusUpdate, artifactUpdate }: TaskEvent): string | undefined {
  return task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId;
}

async function firstEvents(events: EventStream): Promise<number> {
  for await (const batch of events) if (batch.length > 0) return batch.length;
  return 0;
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

/** Dialects whose callers name their tasks know no other ids. */
const CALLABLE = WIRES.filter(({ dialect, has }) => !dialect.traits.callerNamesTask && has('get') && has('stream'));

describe.each(GRPC)('a task made over gRPC (%s)', (id) => {
  it.each(CALLABLE)('is read and canceled in $name', async (wire) => {
    const link = wire.open(talk.service);
    const task = await working(overGrpc(id));
    expect((await link.get({ id: task.id }, ctx)).status.state).toBe('TASK_STATE_WORKING');
    await (wire.has('cancel') ? link : overGrpc(id)).cancel({ id: task.id }, ctx);
    const over = await overGrpc(id).get({ id: task.id }, ctx);
    expect(over.status.state).toBe('TASK_STATE_CANCELED');
    expect(textOf(over)).toBe(textOf(await talk.service.get({ id: task.id }, ctx)));
  });

  it.each(CALLABLE.filter(({ has }) => has('subscribe')))('is followed in $name', async (wire) => {
    const task = await working(overGrpc(id));
    expect(await firstEvents(wire.open(talk.service).subscribe({ id: task.id }, ctx))).toBeGreaterThan(0);
    await overGrpc(id).cancel({ id: task.id }, ctx);
  });
});

describe.each(CALLABLE)('a task made in $name', (wire) => {
  it.each(GRPC)('is read, followed from its third event, and canceled over gRPC (%s)', async (id) => {
    const link = overGrpc(id);
    const task = await working(wire.open(talk.service), wire);
    expect((await link.get({ id: task.id }, ctx)).status.state).toBe('TASK_STATE_WORKING');
    await numbers(link.subscribe({ id: task.id }, ctx), 6);
    const seen = await numbers(link.subscribe({ id: task.id, after: seq(3) }, ctx), 5);
    // The position itself is the snapshot; the events after it follow without a gap.
    expect(seen.slice(0, 3)).toEqual([3, 4, 5]);
    expect((await link.cancel({ id: task.id }, ctx)).status.state).toBe('TASK_STATE_CANCELED');
  });
});
