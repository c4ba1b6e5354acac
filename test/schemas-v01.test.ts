import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCard, ErrorKind, Logged, Shape, TaskEvent } from '#protocol';
import { A2AError, createRegistry, DIALECTS, ERRORS } from '#protocol';
import { event, SHAPES } from './support/arbitraries.ts';
import { card } from './support/arbitrary-cards.ts';
import { countingEnv } from './support/env.ts';
import { schemaProblems } from './support/schemas.ts';

const v01 = createRegistry(DIALECTS).byId('v01');

/** The schema's names for params and results. `tasks/resubscribe` takes the params of `tasks/get`. */
const DEFINITIONS: Readonly<Partial<Record<Shape, string>>> = {
  'send.request': 'TaskSendParams',
  'stream.request': 'TaskSendParams',
  'send.result': 'Task',
  'get.request': 'TaskQueryParams',
  'get.result': 'Task',
  'cancel.request': 'TaskIdParams',
  'cancel.result': 'Task',
  'subscribe.request': 'TaskQueryParams',
  'push.create.request': 'TaskPushNotificationConfig',
  'push.create.result': 'TaskPushNotificationConfig',
  'push.get.request': 'TaskIdParams',
  'push.get.result': 'TaskPushNotificationConfig',
};

const ERROR_DEFINITIONS: ReadonlyMap<number, string> = new Map([
  [-32700, 'JSONParseError'],
  [-32600, 'InvalidRequestError'],
  [-32601, 'MethodNotFoundError'],
  [-32602, 'InvalidParamsError'],
  [-32603, 'InternalError'],
  [-32001, 'TaskNotFoundError'],
  [-32002, 'TaskNotCancelableError'],
  [-32003, 'PushNotificationNotSupportedError'],
  [-32004, 'UnsupportedOperationError'],
]);

describe('output in 0.1 is valid by its schema', () => {
  if (v01 === undefined) throw new Error('no dialect v01');

  it('refuses invalid values, so these tests can fail', () => {
    expect(problems('Task', { id: 't', status: { state: 'rejected' } })).not.toEqual([]);
    expect(problems('DataPart', { type: 'data', data: [1] })).not.toEqual([]);
    expect(problems('InvalidParamsError', { code: -32602, message: 'invalid params' })).not.toEqual([]);
  });

  it.each(Object.entries(DEFINITIONS) as [Shape, string][])('%s is a %s', (shape, name) => {
    fc.assert(fc.property(SHAPES[shape] as fc.Arbitrary<never>, (value) => expectValid(name, v01.encode(shape, value))));
  });

  it('has a definition for every shape of the dialect', () => {
    const ours = (Object.keys(SHAPES) as Shape[]).filter((shape) => {
      const read = v01.decode(shape, null, countingEnv());
      return read.ok || read.reason !== 'not-in-dialect';
    });
    expect(ours.sort()).toEqual([...Object.keys(DEFINITIONS), 'event'].sort());
  });

  it('every frame of a stream is a SendTaskStreamingResponse', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), (events: TaskEvent[]) => {
        const logged: Logged[] = events.map((each) => ({ event: each }));
        for (const frame of v01.openStream('r').frames(logged)) expectValid('SendTaskStreamingResponse', JSON.parse(String(frame.data)));
      }),
    );
  });

  it('a card is an AgentCard', () => {
    fc.assert(fc.property(card, (value: AgentCard) => expectValid('AgentCard', v01.card.write(value))));
  });

  it.each(Object.keys(ERRORS) as ErrorKind[])('%s is a JSONRPCError, and the one of its code', (kind) => {
    const error = v01.error.write(new A2AError(kind, 'something else', { field: 'a.b', info: { k: 'v' } }));
    expectValid('JSONRPCError', error);
    const named = ERROR_DEFINITIONS.get(error.code);
    if (named !== undefined) expectValid(named, error);
  });
});

function problems(definition: string, value: unknown): readonly string[] {
  return schemaProblems('0.1.0', definition, value);
}

function expectValid(definition: string, value: unknown): void {
  expect(problems(definition, JSON.parse(JSON.stringify(value)))).toEqual([]);
}
