import { existsSync, readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentCard, ErrorKind, Logged, Shape, TaskEvent } from '#protocol';
import { A2AError, createRegistry, DIALECTS, ERRORS } from '#protocol';
import { event, SHAPES } from './support/arbitraries.ts';
import { card } from './support/arbitrary-cards.ts';
import { countingEnv } from './support/env.ts';
import { suiteNeeding } from './support/needs.ts';

/** The published schemas lie beside the checkout, at `../shared`, or beside what a worktree hangs under. */
const FILE = 'shared/reference/schemas/a2a-0.1.0.schema.json';
const schemaFile = ['../../', '../../../'].map((up) => new URL(up + FILE, import.meta.url)).find((file) => existsSync(file));
const v01 = createRegistry(DIALECTS).byId('v01');

/** What the schema calls the params and results. `tasks/resubscribe` takes what `tasks/get` takes. */
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

suiteNeeding(`../${FILE}`, schemaFile !== undefined, 'what we write in 0.1 is valid by its schema', () => {
  if (schemaFile === undefined || v01 === undefined) return;
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(JSON.parse(readFileSync(schemaFile, 'utf8')), 'a2a');
  const definition = (name: string): ValidateFunction => {
    const found = ajv.getSchema(`a2a#/$defs/${name}`);
    if (found === undefined) throw new Error(`the schema has no ${name}`);
    return found;
  };
  const expectValid = (validate: ValidateFunction, json: unknown): void => {
    const plain: unknown = JSON.parse(JSON.stringify(json));
    if (!validate(plain)) expect.fail(`${JSON.stringify(validate.errors)} in ${JSON.stringify(plain)}`);
  };

  it('refuses what is not', () => {
    expect(definition('Task')({ id: 't', status: { state: 'rejected' } })).toBe(false);
    expect(definition('DataPart')({ type: 'data', data: [1] })).toBe(false);
    expect(definition('InvalidParamsError')({ code: -32602, message: 'invalid params' })).toBe(false);
  });

  it.each(Object.entries(DEFINITIONS) as [Shape, string][])('%s is a %s', (shape, name) => {
    const validate = definition(name);
    fc.assert(fc.property(SHAPES[shape] as fc.Arbitrary<never>, (value) => expectValid(validate, v01.encode(shape, value))));
  });

  it('has a definition for every shape of the dialect', () => {
    const ours = (Object.keys(SHAPES) as Shape[]).filter((shape) => {
      const read = v01.decode(shape, null, countingEnv());
      return read.ok || read.reason !== 'not-in-dialect';
    });
    expect(ours.sort()).toEqual([...Object.keys(DEFINITIONS), 'event'].sort());
  });

  it('every frame of a stream is a SendTaskStreamingResponse', () => {
    const validate = definition('SendTaskStreamingResponse');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), (events: TaskEvent[]) => {
        const logged: Logged[] = events.map((each) => ({ event: each }));
        for (const frame of v01.openStream('r').frames(logged)) expectValid(validate, JSON.parse(frame.data));
      }),
    );
  });

  it('a card is an AgentCard', () => {
    fc.assert(fc.property(card, (value: AgentCard) => expectValid(definition('AgentCard'), v01.card.write(value))));
  });

  it.each(Object.keys(ERRORS) as ErrorKind[])('%s is a JSONRPCError, and the one of its code', (kind) => {
    const error = v01.error.write(new A2AError(kind, 'something else', { field: 'a.b', info: { k: 'v' } }));
    expectValid(definition('JSONRPCError'), error);
    const named = ERROR_DEFINITIONS.get(error.code);
    if (named !== undefined) expectValid(definition(named), error);
  });
});
