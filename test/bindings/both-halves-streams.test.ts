import { describe, expect, it } from 'vitest';
import type { Logged, Task } from '#protocol';
import { taskId } from '#protocol';
import { callContext, collectEvents, errorOf, withoutDefaults } from '../support/calls.ts';
import { memoryService } from '../support/memory-service.ts';
import type { Wired } from '../support/wires.ts';
import { artifactText, callerOver, WIRES } from '../support/wires.ts';

for (const wire of WIRES) describe(wire.name, () => suite(wire));

function suite(wire: Wired): void {
  const { dialect, has, open } = wire;
  const { request, send, started, expectSame } = callerOver(wire);
  const ctx = callContext();

  it.runIf(has('stream'))('streams', async () => {
    const service = memoryService();
    const given = request('chunks=5');
    const events = await collectEvents(open(service).stream(given, ctx));
    expectSame('SendRequest', given, withoutDefaults(dialect, service.seen[0]?.request));
    expect(streamedText(events)).toBe('chunk 1chunk 2chunk 3chunk 4chunk 5');
    expect(stateOf(events.at(-1))).toBe('TASK_STATE_COMPLETED');
    const places = events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places.length).toBeGreaterThan(4);
    expect(service.openStreams()).toBe(0);
  });

  it.runIf(has('stream'))('ends a stream with an error that says nothing of the inside', async () => {
    const seen: Logged[] = [];
    const reading = (async () => {
      for await (const batch of open(memoryService()).stream(request('break-now'), ctx)) seen.push(...batch);
    })();
    const error = await errorOf(reading);
    expect(JSON.stringify([error.message, error.details])).not.toContain('secret');
    expect(seen.length).toBeGreaterThan(0);
  });

  it.runIf(has('stream'))('answers an error before the first event as an error', async () => {
    const error = await errorOf(collectEvents(open(memoryService()).stream(request('crash-now'), ctx)));
    expect(error.message).not.toContain('secret');
  });

  it.runIf(has('stream'))('streams a direct message as the dialect can', async () => {
    const events = await collectEvents(open(memoryService()).stream(request('message'), ctx));
    expect(JSON.stringify(events)).toContain('said directly');
  });

  it.runIf(has('stream'))('lets the service go when the reader leaves', async () => {
    const service = memoryService();
    for await (const _ of open(service).stream(request('hang'), ctx)) break;
    await expect.poll(() => service.openStreams()).toBe(0);
  });

  it.runIf(has('subscribe'))('subscribes to a task that is at work', async () => {
    const service = memoryService();
    const link = open(service);
    const { id } = await started(link, service);
    const reading = collectEvents(link.subscribe({ id }, ctx));
    await expect.poll(() => service.openStreams()).toBeGreaterThan(0);
    await link.cancel({ id }, ctx);
    expect(stateOf((await reading).at(-1))).toBe('TASK_STATE_CANCELED');
  });

  it.runIf(has('subscribe'))('resumes from its position', async () => {
    const link = open(memoryService());
    const all = await collectEvents(link.stream(request('chunks=4'), ctx));
    const cut = all.findIndex(({ seq }) => seq === 4);
    const place = all[cut]?.seq;
    const id = idOf(all[0]) ?? taskId('none');
    if (place === undefined) throw new Error('the stream has no ids');
    const resumed = await collectEvents(link.subscribe({ id, after: place }, ctx));
    // Where a snapshot would be events that the caller has seen, there is none.
    if (dialect.wire.snapshotAsEvents === true) return expect(resumed).toEqual(all.slice(cut + 1));
    // A snapshot can be several events. The last of them has its sequence number.
    const snapshot = resumed.findIndex(({ seq }) => seq !== undefined);
    expect(resumed[snapshot]?.seq).toBe(place);
    expect(resumed.slice(snapshot + 1)).toEqual(all.slice(cut + 1));
  });

  it.runIf(has('subscribe'))('subscribes to a finished task as the dialect does', async () => {
    const link = open(memoryService());
    const { id } = await send(link, 'x', { configuration: { returnImmediately: false } });
    const reading = collectEvents(link.subscribe({ id }, ctx));
    if (dialect.traits.subscribeFinished === 'error') expect((await errorOf(reading)).kind).toBe('UNSUPPORTED_OPERATION');
    else expect(stateOf((await reading).at(-1))).toBe('TASK_STATE_COMPLETED');
    expect((await errorOf(collectEvents(link.subscribe({ id: taskId('nobody') }, ctx)))).kind).toBe('TASK_NOT_FOUND');
  });
}

/** The artifacts that a reader of the stream has at its end. */
function streamedText(events: readonly Logged[]): string {
  let text = '';
  for (const { event } of events) {
    if (event.task?.artifacts !== undefined) text = artifactText(event.task);
    const update = event.artifactUpdate;
    if (update === undefined) continue;
    const chunk = update.artifact.parts.map((part) => part.text ?? '').join('');
    text = update.append === true ? text + chunk : chunk;
  }
  return text;
}

function stateOf(logged: Logged | undefined): string | undefined {
  return (logged?.event.task ?? logged?.event.statusUpdate)?.status.state;
}

function idOf(logged: Logged | undefined): Task['id'] | undefined {
  const event = logged?.event;
  return event?.task?.id ?? event?.statusUpdate?.taskId ?? event?.artifactUpdate?.taskId;
}
