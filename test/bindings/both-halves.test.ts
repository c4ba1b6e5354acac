import { describe, expect, it } from 'vitest';
import type { LinkOptions, ServeOptions } from '#bindings';
import { jsonRpcLink, restLink, serveJsonRpc, serveRest } from '#bindings';
import type { A2AService, Dialect, Logged, Operation, SendRequest, Task } from '#protocol';
import { A2AError, DIALECTS, externalId, getTextFromMessage, isA2AError, pushConfigId, taskId } from '#protocol';
import { callContext, collectEvents, errorOf, unlisted, userMessage } from '../support/calls.ts';
import { CARD } from '../support/card.ts';
import type { MemoryService } from '../support/memory-service.ts';
import { memoryService } from '../support/memory-service.ts';

/** One dialect over one binding: the link calls, the serve half answers, and there is no socket between them. */
interface Wired {
  readonly name: string;
  readonly binding: 'rpc' | 'rest';
  readonly dialect: Dialect;
  readonly has: (operation: Operation) => boolean;
  readonly open: (service: A2AService, more?: Partial<LinkOptions>, serving?: ServeOptions) => A2AService;
}

const WIRES: readonly Wired[] = DIALECTS.flatMap((dialect) => {
  const { rest } = dialect;
  const base = { dialect, url: 'http://agent.example/a2a' };
  const rpc: Wired = {
    name: `${dialect.id} over JSON-RPC`,
    binding: 'rpc',
    dialect,
    has: (operation) => dialect.methods[operation] !== undefined && writes(dialect, operation),
    open: (service, more, serving) =>
      jsonRpcLink({ ...base, fetch: (request) => serveJsonRpc(request, service, { dialect, ...serving }), ...more }),
  };
  if (rest === undefined) return [rpc];
  const http: Wired = {
    name: `${dialect.id} over HTTP+JSON`,
    binding: 'rest',
    dialect,
    has: (operation) => rest.routes.some((route) => route.operation === operation && route.alias !== true),
    open: (service, more, serving) =>
      restLink({
        ...base,
        fetch: (request) => serveRest(request, service, { dialect, basePath: '/a2a', ...serving }),
        ...more,
      }),
  };
  return dialect.methods.send === undefined ? [http] : [rpc, http];
});

/** A dialect can have a route that it only answers. */
function writes(dialect: Dialect, operation: Operation): boolean {
  try {
    dialect.encode(`${operation}.request`, undefined as never);
    return true;
  } catch (thrown) {
    return !(isA2AError(thrown) && thrown.kind === 'UNSUPPORTED_OPERATION');
  }
}

for (const wire of WIRES) describe(wire.name, () => suite(wire));

function suite(wire: Wired): void {
  const { dialect, has, open } = wire;
  const ctx = callContext();
  const request = (text: string, more: Partial<SendRequest> = {}): SendRequest => ({
    message: userMessage(text),
    ...(dialect.traits.callerNamesTask ? { alias: externalId('mine-1') } : {}),
    ...more,
  });
  const immediately = { configuration: { returnImmediately: true } };
  const same = (type: string, was: unknown, is: unknown): void => expect(unlisted(dialect, type, [was, is])).toEqual([]);
  const send = async (link: A2AService, text: string, more: Partial<SendRequest> = {}): Promise<Task> => {
    const result = await link.send(request(text, more), ctx);
    if (result.task === undefined) throw new Error('no task');
    return result.task;
  };
  /** A task that is at work, for those dialects that can leave one so. */
  const started = async (link: A2AService, service: MemoryService): Promise<Task> => {
    const answer = send(link, 'hang', immediately);
    const task =
      dialect.traits.blockingDefault && !losesImmediately(dialect) ? await answer : await Promise.race([answer, working(service)]);
    answer.catch(() => undefined);
    return task;
  };

  it('sends, and answers what the service answered', async () => {
    const service = memoryService();
    const given = request('chunks=3', {
      configuration: { acceptedOutputModes: ['text/plain'], returnImmediately: false, historyLength: 5 },
    });
    const answer = await open(service).send(given, ctx);
    same('SendRequest', given, service.seen[0]?.request);
    expect(service.seen[0]?.ctx.dialect).toBe(dialect.id);
    expect(textOf(answer.task)).toBe('chunk 1chunk 2chunk 3');
    if (answer.task === undefined) throw new Error('no task');
    const { historyLength } = (service.seen[0]?.request as SendRequest | undefined)?.configuration ?? {};
    const asked = { id: answer.task.id, ...(historyLength === undefined ? {} : { historyLength }) };
    same('Task', await service.get(asked, { ...ctx, dialect: dialect.id }), answer.task);
  });

  it('fails as a task, not as an error', async () => {
    const task = await send(open(memoryService()), 'fail');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });

  it('answers a direct message as the dialect can', async () => {
    const answer = await open(memoryService()).send(request('message'), ctx);
    const said = answer.message ?? answer.task?.status.message;
    const inArtifacts = textOf(answer.task);
    expect((said === undefined ? '' : getTextFromMessage(said)) + inArtifacts).toContain('said directly');
    expect(answer.message !== undefined).toBe(dialect.traits.directMessage === 'allowed');
  });

  it('never says what went wrong inside', async () => {
    const causes: unknown[] = [];
    const link = open(memoryService(), {}, { onError: (cause) => causes.push(cause) });
    const error = await errorOf(link.send(request('crash-now'), ctx));
    expect(JSON.stringify([error.message, error.details])).not.toContain('secret');
    expect(String(causes[0])).toContain('secret inside');
  });

  it('reports an error of the service', async () => {
    const error = await errorOf(open(memoryService()).send(request('quota'), ctx));
    const told = new A2AError('RATE_LIMITED', undefined, { retryAfterMs: 1500 });
    const { error: codec, rest } = dialect;
    const written = wire.binding === 'rpc' ? undefined : rest?.writeError(told);
    const expected = written === undefined ? codec.read(codec.write(told)) : rest?.readError(written.status, written.body);
    expect([error.kind, error.details.retryAfterMs]).toEqual([expected?.kind, expected?.details.retryAfterMs]);
  });

  it('says before it calls what the dialect has not', async () => {
    const service = memoryService(CARD);
    const link = open(service);
    const id = taskId('x');
    const calls: readonly (readonly [Operation, () => Promise<unknown>])[] = [
      ['stream', () => collectEvents(link.stream(request('x'), ctx))],
      ['get', () => link.get({ id }, ctx)],
      ['list', () => link.list({}, ctx)],
      ['cancel', () => link.cancel({ id }, ctx)],
      ['subscribe', () => collectEvents(link.subscribe({ id }, ctx))],
      ['push.create', () => link.push.create({ url: 'https://hook.example', taskId: id }, ctx)],
      ['push.get', () => link.push.get({ taskId: id, id: pushConfigId('p') }, ctx)],
      ['push.list', () => link.push.list({ taskId: id }, ctx)],
      ['push.delete', () => link.push.delete({ taskId: id, id: pushConfigId('p') }, ctx)],
      ['extendedCard', () => link.extendedCard({}, ctx)],
    ];
    for (const [operation, call] of calls) {
      if (has(operation)) continue;
      expect((await errorOf(call())).kind, operation).toBe('UNSUPPORTED_OPERATION');
    }
    expect(service.seen).toEqual([]);
  });

  it.runIf(has('get'))('gets a task', async () => {
    const service = memoryService();
    const link = open(service);
    const { id } = await send(link, 'chunks=2');
    const given = { id, historyLength: 1 };
    const task = await link.get(given, ctx);
    same('GetRequest', given, service.seen.at(-1)?.request);
    same('Task', await service.get(given, { ...ctx, dialect: dialect.id }), task);
  });

  it.runIf(has('get'))('says that there is no such task', async () => {
    expect((await errorOf(open(memoryService()).get({ id: taskId('nobody') }, ctx))).kind).toBe('TASK_NOT_FOUND');
  });

  it.runIf(has('get'))('asks, and goes on with the answer', async () => {
    const link = open(memoryService());
    const asked = await send(link, 'ask', { configuration: { returnImmediately: false } });
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answer = { message: userMessage('this one', { taskId: asked.id }) };
    const done = await link.send({ ...request('this one'), ...answer, configuration: { returnImmediately: false } }, ctx);
    expect(done.task?.id).toBe(asked.id);
    expect(textOf(done.task)).toContain('answer: this one');
  });

  it.runIf(has('list'))('lists tasks, page by page', async () => {
    const service = memoryService();
    const link = open(service);
    for (let count = 0; count < 3; count += 1)
      await send(link, 'x', dialect.traits.callerNamesTask ? { alias: externalId(`mine-${count}`) } : {});
    const whole = await link.list({ contextId: userMessage('x').contextId ?? ('' as never), pageSize: 2 }, ctx);
    expect(whole.tasks.length).toBeGreaterThanOrEqual(2);
    for (const task of whole.tasks) expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it.runIf(has('cancel'))('cancels a task that is at work', async () => {
    const service = memoryService();
    const link = open(service);
    const { id } = await started(link, service);
    expect((await link.cancel({ id }, ctx)).status.state).toBe('TASK_STATE_CANCELED');
  });

  it.runIf(has('cancel'))('cancels a finished task as the dialect does', async () => {
    const link = open(memoryService());
    const { id } = await send(link, 'x', { configuration: { returnImmediately: false } });
    const cancelling = link.cancel({ id }, ctx);
    if (dialect.traits.cancelFinished === 'returns-task') expect((await cancelling).status.state).toBe('TASK_STATE_COMPLETED');
    else expect(['TASK_NOT_CANCELABLE', 'TASK_NOT_FOUND']).toContain((await errorOf(cancelling)).kind);
    const unknown = await errorOf(link.cancel({ id: taskId('nobody') }, ctx));
    expect(unknown.kind).toBe('TASK_NOT_FOUND');
  });

  it.runIf(has('stream'))('streams', async () => {
    const service = memoryService();
    const given = request('chunks=5');
    const events = await collectEvents(open(service).stream(given, ctx));
    same('SendRequest', given, service.seen[0]?.request);
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

  it.runIf(has('subscribe'))('goes on where it was', async () => {
    const link = open(memoryService());
    const all = await collectEvents(link.stream(request('chunks=4'), ctx));
    const cut = all.findIndex(({ seq }) => seq === 4);
    const place = all[cut]?.seq;
    const id = idOf(all[0]) ?? taskId('none');
    if (place === undefined) throw new Error('the stream has no ids');
    const resumed = await collectEvents(link.subscribe({ id, after: place }, ctx));
    // A snapshot can be several events; the last of them has the place that it was taken at.
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

  it.runIf(has('push.create'))('keeps push configs', async () => {
    const service = memoryService();
    const link = open(service);
    const { id } = await send(link, 'x', { configuration: { returnImmediately: false } });
    const config = { url: 'https://hook.example/a', taskId: id, token: 'tok', authentication: { scheme: 'Bearer', credentials: 'c' } };
    const made = await link.push.create({ ...config, id: pushConfigId('push-a') }, ctx);
    same('PushConfig', { ...config, id: 'push-a' }, made);
    if (has('push.get'))
      same('PushConfig', made, await link.push.get({ taskId: id, ...(made.id === undefined ? {} : { id: made.id }) }, ctx));
    if (has('push.list')) same('PushPage', { configs: [made] }, await link.push.list({ taskId: id }, ctx));
    if (!has('push.delete')) return;
    await link.push.delete({ taskId: id, id: pushConfigId('push-a') }, ctx);
    await link.push.delete({ taskId: id, id: pushConfigId('push-a') }, ctx);
    if (has('push.list')) expect((await link.push.list({ taskId: id }, ctx)).configs).toEqual([]);
    expect((await errorOf(link.push.list({ taskId: taskId('nobody') }, ctx))).kind).toBe('TASK_NOT_FOUND');
  });

  it.runIf(has('extendedCard'))('hands out the extended card', async () => {
    expect((await open(memoryService(CARD)).extendedCard({}, ctx)).name).toBe('Echo');
    await errorOf(open(memoryService()).extendedCard({}, ctx));
  });

  it('carries headers both ways', async () => {
    const service = memoryService();
    let answered: Headers | undefined;
    const plain = (request: Request): Promise<Response> =>
      wire.binding === 'rpc'
        ? serveJsonRpc(request, service, { dialect, extensions: ['urn:a', 'urn:b'] })
        : serveRest(request, service, { dialect, basePath: '/a2a', extensions: ['urn:a', 'urn:b'] });
    const link = open(service, {
      headers: { Authorization: 'Bearer x' },
      fetch: async (request) => {
        expect(request.headers.get('authorization')).toBe('Bearer x');
        expect(request.headers.get('a2a-version') ?? undefined).toBe(dialect.traits.versionHeader);
        const response = await plain(request);
        answered = response.headers;
        return response;
      },
    });
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' };
    await link.send(request('x'), callContext({ extensions: ['urn:b', 'urn:c'], idempotencyKey: 'once', trace }));
    const seen = service.seen[0]?.ctx;
    expect([seen?.idempotencyKey, seen?.trace]).toEqual(['once', trace]);
    const { extensionsHeader, versionHeader } = dialect.traits;
    expect(seen?.extensions).toEqual(extensionsHeader === undefined ? [] : ['urn:b', 'urn:c']);
    if (extensionsHeader !== undefined) expect(answered?.get(extensionsHeader)).toBe('urn:b');
    expect(answered?.get('a2a-version') ?? undefined).toBe(versionHeader);
  });
}

function textOf(task: Task | undefined): string {
  return (task?.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
}

/** What a reader of the stream has of the artifacts at its end. */
function streamedText(events: readonly Logged[]): string {
  let text = '';
  for (const { event } of events) {
    if (event.task?.artifacts !== undefined) text = textOf(event.task);
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

function losesImmediately(dialect: Dialect): boolean {
  return dialect.losses.some(({ field }) => field === 'SendConfiguration.returnImmediately' || field === 'SendRequest.configuration');
}

async function working(service: MemoryService): Promise<Task> {
  await expect.poll(() => service.tasks().length).toBeGreaterThan(0);
  const [task] = service.tasks();
  if (task === undefined) throw new Error('no task');
  return task;
}
