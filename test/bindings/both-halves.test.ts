import { describe, expect, it } from 'vitest';
import { serveJsonRpc, serveRest } from '#bindings';
import type { Operation, SendRequest } from '#protocol';
import { A2AError, behave, externalId, getTextFromMessage, pushConfigId, taskId } from '#protocol';
import { callContext, collectEvents, errorOf, userMessage, withoutDefaults } from '../support/calls.ts';
import { CARD } from '../support/card.ts';
import { memoryService } from '../support/memory-service.ts';
import type { Wired } from '../support/wires.ts';
import { artifactText, callerOver, WIRES } from '../support/wires.ts';

for (const wire of WIRES) describe(wire.name, () => suite(wire));

function suite(wire: Wired): void {
  const { dialect, has, open } = wire;
  const { request, send, started, expectSame } = callerOver(wire);
  const ctx = callContext();

  it('sends, and returns the result of the service', async () => {
    const service = memoryService();
    const given = request('chunks=3', {
      configuration: { acceptedOutputModes: ['text/plain'], returnImmediately: false, historyLength: 5 },
    });
    const answer = await open(service).send(given, ctx);
    expectSame('SendRequest', given, withoutDefaults(dialect, service.seen[0]?.request));
    expect(service.seen[0]?.ctx.dialect).toBe(dialect.id);
    expect(artifactText(answer.task)).toBe('chunk 1chunk 2chunk 3');
    if (answer.task === undefined) throw new Error('no task');
    const { historyLength } = (service.seen[0]?.request as SendRequest | undefined)?.configuration ?? {};
    const asked = { id: answer.task.id, ...(historyLength === undefined ? {} : { historyLength }) };
    expectSame('Task', await behave(service, dialect.traits).get(asked, { ...ctx, dialect: dialect.id }), answer.task);
  });

  it('returns a failed task, not an error', async () => {
    const task = await send(open(memoryService()), 'fail');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });

  it('returns a direct message in the form of the dialect', async () => {
    const answer = await open(memoryService()).send(request('message'), ctx);
    const said = answer.message ?? answer.task?.status.message;
    const inArtifacts = artifactText(answer.task);
    expect((said === undefined ? '' : getTextFromMessage(said)) + inArtifacts).toContain('said directly');
    expect(answer.message !== undefined).toBe(dialect.traits.directMessage === 'allowed');
  });

  it('hides internal errors', async () => {
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

  it('refuses operations that the dialect lacks, without a request', async () => {
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
    expectSame('GetRequest', given, service.seen.at(-1)?.request);
    expectSame('Task', await behave(service, dialect.traits).get(given, { ...ctx, dialect: dialect.id }), task);
  });

  it.runIf(has('get'))('says that there is no such task', async () => {
    expect((await errorOf(open(memoryService()).get({ id: taskId('nobody') }, ctx))).kind).toBe('TASK_NOT_FOUND');
  });

  it.runIf(has('get'))('asks, and continues with the answer', async () => {
    const link = open(memoryService());
    const asked = await send(link, 'ask', { configuration: { returnImmediately: false } });
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answer = { message: userMessage('this one', { taskId: asked.id }) };
    const done = await link.send({ ...request('this one'), ...answer, configuration: { returnImmediately: false } }, ctx);
    expect(done.task?.id).toBe(asked.id);
    expect(artifactText(done.task)).toContain('answer: this one');
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

  it.runIf(has('push.create'))('keeps push configs', async () => {
    const service = memoryService();
    const link = open(service);
    const { id } = await send(link, 'x', { configuration: { returnImmediately: false } });
    const config = { url: 'https://hook.example/a', taskId: id, token: 'tok', authentication: { scheme: 'Bearer', credentials: 'c' } };
    const made = await link.push.create({ ...config, id: pushConfigId('push-a') }, ctx);
    expectSame('PushConfig', { ...config, id: 'push-a' }, made);
    if (has('push.get'))
      expectSame('PushConfig', made, await link.push.get({ taskId: id, ...(made.id === undefined ? {} : { id: made.id }) }, ctx));
    if (has('push.list')) expectSame('PushPage', { configs: [made] }, await link.push.list({ taskId: id }, ctx));
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
        expect(request.headers.get('a2a-version') ?? undefined).toBe(dialect.wire.versionHeader);
        const response = await plain(request);
        answered = response.headers;
        return response;
      },
    });
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' };
    await link.send(request('x'), callContext({ extensions: ['urn:b', 'urn:c'], idempotencyKey: 'once', trace }));
    const seen = service.seen[0]?.ctx;
    expect([seen?.idempotencyKey, seen?.trace]).toEqual(['once', trace]);
    const { extensionsHeader, versionHeader } = dialect.wire;
    expect(seen?.extensions).toEqual(extensionsHeader === undefined ? [] : ['urn:b', 'urn:c']);
    if (extensionsHeader !== undefined) expect(answered?.get(extensionsHeader)).toBe('urn:b');
    expect(answered?.get('a2a-version') ?? undefined).toBe(versionHeader);
  });
}
