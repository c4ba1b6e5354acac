import { describe, expect, it } from 'vitest';
import { callContext } from '../../test/support/calls.ts';
import { behave } from './behave.ts';
import { createRegistry } from './dialects/create-registry.ts';
import type { Dialect, Traits } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/registry.ts';
import { A2AError } from './errors.ts';
import type { EventStream, Logged } from './events.ts';
import { contextId, externalId, messageId, taskId } from './ids.ts';
import type { SendRequest } from './requests.ts';
import type { A2AService, CallContext } from './service.ts';
import type { Task } from './task.ts';
import { createTaskStatus } from './task.ts';

const registry = createRegistry(DIALECTS);
const TRAITS: Traits = dialect('v10').traits;
const ID = taskId('t');
const USER: SendRequest['message'] = { messageId: messageId('m'), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const REPLY: SendRequest['message'] = {
  messageId: messageId('r'),
  role: 'ROLE_AGENT',
  parts: [{ text: 'hello' }],
  contextId: contextId('c'),
};
const FINISHED: Task = { id: ID, contextId: contextId('c'), status: createTaskStatus('TASK_STATE_COMPLETED'), history: [USER] };

function dialect(id: string): Dialect {
  const found = registry.byId(id);
  if (found === undefined) throw new Error(`no dialect ${id}`);
  return found;
}

interface Seen {
  readonly operation: string;
  readonly request: unknown;
  readonly ctx: CallContext;
}

/** Knows one task, which is finished, and answers every message with a message. */
function fake(more: Partial<A2AService> = {}): A2AService & { readonly seen: Seen[] } {
  const seen: Seen[] = [];
  const note = <T>(operation: string, answer: (request: never) => T) => {
    return (request: unknown, ctx: CallContext): T => {
      seen.push({ operation, request, ctx });
      return answer(request as never);
    };
  };
  const refuse = async (): Promise<never> => {
    throw new A2AError('UNSUPPORTED_OPERATION');
  };
  const failing = async function* (): AsyncGenerator<readonly Logged[]> {
    yield* [];
    throw new A2AError('UNSUPPORTED_OPERATION', 'the task is finished');
  };
  return {
    seen,
    send: note('send', async () => ({ message: REPLY })),
    stream: note('stream', async function* () {
      yield [{ event: { message: REPLY } }];
    }),
    get: note('get', async () => FINISHED),
    list: note('list', async () => ({ tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 })),
    cancel: note('cancel', async () => {
      throw new A2AError('TASK_NOT_CANCELABLE');
    }),
    subscribe: note('subscribe', failing),
    push: { create: refuse, get: refuse, list: refuse, delete: refuse },
    extendedCard: refuse,
    ...more,
  };
}

async function eventsOf(stream: EventStream): Promise<readonly Logged[]> {
  const all: Logged[] = [];
  for await (const batch of stream) all.push(...batch);
  return all;
}

describe('behave', () => {
  it('returns the service itself for A2A 1.0, and the same decorator for the same service and traits', () => {
    const service = fake();
    expect(behave(service, TRAITS)).toBe(service);
    const traits = dialect('v03').traits;
    expect(behave(service, traits)).toBe(behave(service, traits));
    expect(behave(service, traits)).not.toBe(behave(fake(), traits));
  });

  it.each([
    ['v10', undefined],
    ['v10.mqtt', { taskNames: 'once', tasksOnly: true }],
    ['v03', { continuesByContext: true, showsFinished: true, streamsThroughQuestions: true, cancelsOnce: true }],
    ['v01', { taskNames: 'reusable', mintedMessageId: true, tasksOnly: true, showsFinished: true }],
    ['society', { taskNames: 'reusable', mintedMessageId: true, tasksOnly: true, sendMsMax: 25_000 }],
    ['sam', { taskNames: 'reusable', tasksOnly: true }],
    ['promptkit', { continuesByContext: true, tasksOnly: true, showsFinished: true, subscriptionEndsOnQuestion: true, sendMsMax: 50_000 }],
    ['cortex', { continuesByContext: true, tasksOnly: true, showsFinished: true }],
  ])('sets the semantics of %s on every call', async (id, semantics) => {
    const service = fake();
    const behaved = behave(service, dialect(id).traits);
    await behaved.send({ message: USER }, callContext());
    await behaved.get({ id: ID }, callContext());
    expect(service.seen.map(({ ctx }) => ctx.semantics)).toEqual([semantics, semantics]);
  });

  it('asks for no history where the dialect shows none by default, and leaves an explicit length alone', async () => {
    const service = fake({ cancel: async () => FINISHED });
    const behaved = behave(service, { ...TRAITS, historyDefault: 'none' });
    await behaved.send({ message: USER }, callContext());
    await behaved.get({ id: ID }, callContext());
    await behaved.get({ id: ID, historyLength: 3 }, callContext());
    await behaved.list({}, callContext());
    expect(service.seen.map(({ request }) => request)).toEqual([
      { message: USER, configuration: { historyLength: 0 } },
      { id: ID, historyLength: 0 },
      { id: ID, historyLength: 3 },
      { historyLength: 0 },
    ]);
    expect(await behaved.cancel({ id: ID }, callContext())).not.toHaveProperty('history');
  });

  it('returns a finished task that can’t be canceled', async () => {
    const behaved = behave(fake(), { ...TRAITS, cancelFinished: 'returns-task' });
    expect(await behaved.cancel({ id: ID }, callContext())).toEqual(FINISHED);
    const unknown = fake({ cancel: () => Promise.reject(new A2AError('TASK_NOT_FOUND')) });
    await expect(behave(unknown, { ...TRAITS, cancelFinished: 'returns-task' }).cancel({ id: ID }, callContext())).rejects.toMatchObject({
      kind: 'TASK_NOT_FOUND',
    });
  });

  it('streams the snapshot of a finished task that can’t be subscribed to', async () => {
    const traits: Traits = { ...TRAITS, subscribeFinished: 'returns-task' };
    expect(await eventsOf(behave(fake(), traits).subscribe({ id: ID }, callContext()))).toEqual([{ event: { task: FINISHED } }]);
    const running = fake({ get: async () => ({ ...FINISHED, status: createTaskStatus('TASK_STATE_WORKING') }) });
    await expect(eventsOf(behave(running, traits).subscribe({ id: ID }, callContext()))).rejects.toMatchObject({
      kind: 'UNSUPPORTED_OPERATION',
    });
  });

  it('turns a direct message into a completed task under the caller’s name for it', async () => {
    const behaved = behave(fake(), dialect('v01').traits);
    const request: SendRequest = { message: USER, alias: externalId('mine') };
    const task = { id: 'mine', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED', message: REPLY } };
    expect(await behaved.send(request, callContext())).toMatchObject({ task });
    expect(await eventsOf(behaved.stream(request, callContext()))).toMatchObject([{ event: { task } }]);
    expect(await behaved.send({ message: USER }, callContext())).toEqual({ message: REPLY });
  });

  it('ends the inner stream when the reader leaves', async () => {
    let isClosed = false;
    const endless = async function* (): AsyncGenerator<readonly Logged[]> {
      try {
        for (;;) yield [{ event: { task: FINISHED } }];
      } finally {
        isClosed = true;
      }
    };
    const behaved = behave(fake({ subscribe: endless }), dialect('v03').traits);
    for await (const _ of behaved.subscribe({ id: ID }, callContext())) break;
    expect(isClosed).toBe(true);
  });

  it('agrees with the wire facts of every dialect about callers that name tasks', () => {
    for (const { id, wire, traits } of DIALECTS) expect(wire.callerNamesTask === true, id).toBe(traits.callerNamesTask);
  });
});
