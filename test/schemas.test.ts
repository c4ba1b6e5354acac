import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect, ErrorKind, Shape } from '#protocol';
import { A2AError, createRegistry, DIALECTS, ERRORS } from '#protocol';
import { SHAPES } from './support/arbitraries.ts';
import { card } from './support/arbitrary-cards.ts';
import type { SchemaVersion } from './support/schemas.ts';
import { schemaProblems } from './support/schemas.ts';

const registry = createRegistry(DIALECTS);
const RUNS = Number(process.env['PARLEY_PROPERTY_RUNS'] ?? 100);

/** The name of each shape in the schemas of 0.2 and 0.3. Those definitions include the JSON-RPC envelope. */
const REQUESTS: Readonly<Partial<Record<Shape, string>>> = {
  'send.request': 'SendMessageRequest',
  'stream.request': 'SendStreamingMessageRequest',
  'get.request': 'GetTaskRequest',
  'cancel.request': 'CancelTaskRequest',
  'subscribe.request': 'TaskResubscriptionRequest',
  'push.create.request': 'SetTaskPushNotificationConfigRequest',
  'push.get.request': 'GetTaskPushNotificationConfigRequest',
  'push.list.request': 'ListTaskPushNotificationConfigRequest',
  'push.delete.request': 'DeleteTaskPushNotificationConfigRequest',
  'extendedCard.request': 'GetAuthenticatedExtendedCardRequest',
};
const RESULTS: Readonly<Partial<Record<Shape, string>>> = {
  'send.result': 'SendMessageSuccessResponse',
  'get.result': 'GetTaskSuccessResponse',
  'cancel.result': 'CancelTaskSuccessResponse',
  'push.create.result': 'SetTaskPushNotificationConfigSuccessResponse',
  'push.get.result': 'GetTaskPushNotificationConfigSuccessResponse',
  'push.list.result': 'ListTaskPushNotificationConfigSuccessResponse',
  'push.delete.result': 'DeleteTaskPushNotificationConfigSuccessResponse',
  event: 'SendStreamingMessageSuccessResponse',
};

/** A release without its own schema in `test/schemas` must satisfy the one before, because each only added optional members. */
const VERSIONS: Readonly<Record<string, SchemaVersion>> = {
  v03: '0.3.0',
  v02: '0.2.6',
  'v02.5': '0.2.5',
  'v02.4': '0.2.0',
  'v02.3': '0.2.0',
  'v02.2': '0.2.0',
  'v02.1': '0.2.0',
  'v02.0': '0.2.0',
};

/** The name of each shape in the schema of 1.0, whose definitions have no envelope. */
const V10: Readonly<Partial<Record<Shape, string>>> = {
  'send.request': 'SendMessageRequest',
  'stream.request': 'SendMessageRequest',
  'get.request': 'GetTaskRequest',
  'list.request': 'ListTasksRequest',
  'cancel.request': 'CancelTaskRequest',
  'subscribe.request': 'SubscribeToTaskRequest',
  'push.create.request': 'TaskPushNotificationConfig',
  'push.get.request': 'GetTaskPushNotificationConfigRequest',
  'push.list.request': 'ListTaskPushNotificationConfigsRequest',
  'push.delete.request': 'DeleteTaskPushNotificationConfigRequest',
  'extendedCard.request': 'GetExtendedAgentCardRequest',
  'send.result': 'SendMessageResponse',
  'get.result': 'Task',
  'list.result': 'ListTasksResponse',
  'cancel.result': 'Task',
  'push.create.result': 'TaskPushNotificationConfig',
  'push.get.result': 'TaskPushNotificationConfig',
  'push.list.result': 'ListTaskPushNotificationConfigsResponse',
  event: 'StreamResponse',
};

describe('output is valid by the official schemas', () => {
  for (const [id, version] of Object.entries(VERSIONS)) {
    const dialect = registry.byId(id);
    if (dialect === undefined) throw new Error(`no dialect ${id}`);
    for (const [shape, definition] of Object.entries(REQUESTS) as [Shape, string][]) {
      const method = dialect.methods[shape.replace('.request', '') as keyof Dialect['methods']];
      if (method === undefined) continue;
      it(`${id}: ${shape}`, () =>
        expectValid(shape, (value) =>
          schemaProblems(version, definition, { jsonrpc: '2.0', id: 1, method, params: written(dialect, shape, value) }),
        ));
    }
    for (const [shape, definition] of Object.entries(RESULTS) as [Shape, string][]) {
      const operation = shape.replace('.result', '') as keyof Dialect['methods'];
      if (shape !== 'event' && dialect.methods[operation] === undefined) continue;
      it(`${id}: ${shape}`, () =>
        expectValid(shape, (value) =>
          schemaProblems(version, definition, { jsonrpc: '2.0', id: 1, result: written(dialect, shape, value) }),
        ));
    }
    it(`${id}: card`, () => {
      fc.assert(
        fc.property(card, (value) => {
          expect(schemaProblems(version, 'AgentCard', JSON.parse(JSON.stringify(dialect.card.write(value))))).toEqual([]);
        }),
        { numRuns: RUNS },
      );
    });
    it(`${id}: errors`, () => {
      for (const kind of Object.keys(ERRORS) as ErrorKind[]) {
        const error = dialect.error.write(new A2AError(kind, undefined, { field: 'message.parts' }));
        expect(schemaProblems(version, 'JSONRPCErrorResponse', { jsonrpc: '2.0', id: 1, error }), kind).toEqual([]);
      }
    });
  }

  for (const [shape, definition] of Object.entries(V10) as [Shape, string][]) {
    const dialect = registry.byId('v10') as Dialect;
    it(`v10: ${shape}`, () => expectValid(shape, (value) => schemaProblems('1.0.1', definition, written(dialect, shape, value))));
  }

  it('v03: list.result, by the schema on the main branch after the 0.3.0 tag', () => {
    const dialect = registry.byId('v03') as Dialect;
    expectValid('list.result', (value) => schemaProblems('0.3+list', 'ListTasksResult', written(dialect, 'list.result', value)));
  });

  it('refuses invalid values, so these tests can fail', () => {
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
    const task = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'working' } };
    expect(schemaProblems('0.3.0', 'Message', message)).toEqual([]);
    expect(schemaProblems('0.3.0', 'Message', { ...message, role: 'ROLE_USER' })).not.toEqual([]);
    expect(schemaProblems('0.3.0', 'Task', { ...task, contextId: undefined })).not.toEqual([]);
    expect(schemaProblems('0.2.5', 'MessageSendConfiguration', { blocking: true })).not.toEqual([]);
    expect(schemaProblems('0.2.6', 'SecurityScheme', { type: 'mutualTLS' })).not.toEqual([]);
    expect(schemaProblems('1.0.1', 'Task', { id: 't1', status: { state: 'working' } })).not.toEqual([]);
  });
});

function expectValid(shape: Shape, problems: (value: never) => readonly string[]): void {
  const values = SHAPES[shape] as fc.Arbitrary<never>;
  fc.assert(
    fc.property(values, (value) => {
      expect(problems(value)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
}

function written(dialect: Dialect, shape: Shape, value: unknown): unknown {
  return JSON.parse(JSON.stringify(dialect.encode(shape, value as never)));
}
