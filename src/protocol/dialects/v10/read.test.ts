import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { A2AError } from '../../errors.ts';
import type { Shape } from '../../operations.ts';
import { v10, v10Generation } from './dialect.ts';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const status = { state: 'TASK_STATE_WORKING' };
const task = { id: 't', status };
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const send = (members: object): object => ({ message, ...members });
const configured = (configuration: unknown): object => send({ configuration });
const said = (members: object): object => send({ message: { ...message, ...members } });
const part = (value: unknown): object => said({ parts: [{ text: 'a' }, value] });

function problem(shape: Shape, raw: unknown): string {
  const decoded = v10.decode(shape, raw, countingEnv());
  if (decoded.ok || decoded.reason !== 'invalid') throw new Error(`read: ${JSON.stringify(decoded)}`);
  return `${decoded.path}: ${decoded.problem}`;
}

describe('1.0 reports each problem with its path', () => {
  const ONE = 'must have exactly one of text, raw, url, data';
  const COUNT = 'must be a whole number from 0 to 2147483647';
  const cases: readonly (readonly [Shape, unknown, string])[] = [
    ['send.request', undefined, ': is required'],
    ['send.request', {}, 'message: is required'],
    ['send.request', said({ messageId: undefined }), 'message.messageId: is required'],
    ['send.request', said({ messageId: '' }), 'message.messageId: must not be empty'],
    ['send.request', said({ messageId: 'x'.repeat(129) }), 'message.messageId: must be at most 128 characters'],
    ['send.request', said({ role: 'user' }), 'message.role: has the unknown value "user"; known: ROLE_USER, ROLE_AGENT'],
    ['send.request', said({ role: 0 }), 'message.role: has the unknown value 0; known: ROLE_USER, ROLE_AGENT'],
    ['send.request', said({ contextId: 5 }), 'message.contextId: must be a string'],
    ['send.request', said({ taskId: {} }), 'message.taskId: must be a string'],
    ['send.request', said({ metadata: [] }), 'message.metadata: must be an object'],
    ['send.request', said({ metadata: { a: deep(64) } }), 'message.metadata: is nested deeper than 64'],
    ['send.request', said({ extensions: 'x' }), 'message.extensions: must be an array of strings'],
    ['send.request', said({ extensions: ['x', 1] }), 'message.extensions[1]: must be a string'],
    ['send.request', said({ referenceTaskIds: [null] }), 'message.referenceTaskIds[0]: is required'],
    ['send.request', said({ parts: null }), 'message.parts: is required'],
    ['send.request', said({ parts: {} }), 'message.parts: must be an array'],
    ['send.request', said({ parts: [] }), 'message.parts: must have at least one part'],
    ['send.request', said({ parts: Array(101).fill({ text: 'a' }) }), 'message.parts: must have at most 100 parts'],
    ['send.request', part({}), `message.parts[1]: ${ONE}; has 0`],
    ['send.request', part({ text: 'a', data: null }), `message.parts[1]: ${ONE}; has 2`],
    ['send.request', part({ url: 7 }), 'message.parts[1].url: must be a string'],
    ['send.request', part({ raw: '!' }), 'message.parts[1].raw: is not base64'],
    ['send.request', part({ data: JSON.parse('{"__proto__":1}') }), 'message.parts[1].data: must not have the key __proto__'],
    ['send.request', part({ data: Number.POSITIVE_INFINITY }), 'message.parts[1].data: holds a number that is out of range'],
    ['send.request', part({ text: 'a', metadata: 1 }), 'message.parts[1].metadata: must be an object'],
    ['send.request', part({ text: 'a', filename: 1 }), 'message.parts[1].filename: must be a string'],
    ['send.request', part({ text: 'a', mediaType: 1 }), 'message.parts[1].mediaType: must be a string'],
    ['send.request', send({ metadata: 1 }), 'metadata: must be an object'],
    ['send.request', send({ tenant: 1 }), 'tenant: must be a string'],
    ['send.request', configured('x'), 'configuration: must be an object'],
    ['send.request', configured({ acceptedOutputModes: [1] }), 'configuration.acceptedOutputModes[0]: must be a string'],
    ['send.request', configured({ historyLength: -1 }), `configuration.historyLength: ${COUNT}`],
    ['send.request', configured({ historyLength: 2 ** 31 }), `configuration.historyLength: ${COUNT}`],
    ['send.request', configured({ returnImmediately: 'yes' }), 'configuration.returnImmediately: must be true or false'],
    ['send.request', configured({ ifGenerationMatch: 1.5 }), 'configuration.ifGenerationMatch: must be a whole number'],
    ['send.request', configured({ taskPushNotificationConfig: {} }), 'configuration.taskPushNotificationConfig.url: is required'],
    ['get.request', {}, 'id: is required'],
    ['get.request', { id: 't', historyLength: '1.5' }, `historyLength: ${COUNT}`],
    ['get.request', { id: 't', currentGeneration: 'x' }, 'currentGeneration: must be a whole number'],
    ['cancel.request', { id: 't', metadata: 'x' }, 'metadata: must be an object'],
    ['subscribe.request', { id: 7 }, 'id: must be a string'],
    ['list.request', { contextId: 7 }, 'contextId: must be a string'],
    ['list.request', { pageSize: 101 }, 'pageSize: must be from 1 to 100'],
    ['list.request', { pageToken: 1 }, 'pageToken: must be a string'],
    ['list.request', { historyLength: -1 }, `historyLength: ${COUNT}`],
    ['list.request', { statusTimestampAfter: 'yesterday' }, 'statusTimestampAfter: must be an RFC 3339 timestamp'],
    ['list.request', { includeArtifacts: 1 }, 'includeArtifacts: must be true or false'],
    ['push.create.request', { url: 'https://h.example' }, 'taskId: is required'],
    ['push.create.request', { taskId: 't', url: '' }, 'url: must not be empty'],
    ['push.create.request', { taskId: 't', url: 'https://h.example', authentication: {} }, 'authentication.scheme: is required'],
    ['push.get.request', { taskId: 't' }, 'id: is required'],
    ['push.delete.request', { id: 'c' }, 'taskId: is required'],
    ['push.list.request', { taskId: 't', pageSize: 'x' }, `pageSize: ${COUNT}`],
    ['send.result', { statusUpdate: { taskId: 't', contextId: 'c', status } }, ': must have exactly one of task, message'],
    ['send.result', { task, message }, ': must have exactly one of task, message, statusUpdate, artifactUpdate; has 2'],
    ['send.result', { task: { status } }, 'task.id: is required'],
    [
      'send.result',
      { task: { id: 't', status: { state: 'DONE' } } },
      expect.stringMatching(/^task\.status\.state: has the unknown/) as never,
    ],
    ['send.result', { message: { ...message, parts: [{ raw: 1 }] } }, 'message.parts[0].raw: must be a base64 string'],
    ['get.result', { ...task, artifacts: [{ parts: [] }] }, 'artifacts[0].artifactId: is required'],
    ['get.result', { ...task, history: [message, 5] }, 'history[1]: must be an object'],
    ['get.result', { ...task, generation: -1 }, 'generation: must be a whole number'],
    ['get.result', { ...task, generation: '0x10' }, 'generation: must be a whole number'],
    ['get.result', { ...task, generation: '' }, 'generation: must be a whole number'],
    ['event', { statusUpdate: { contextId: 'c', status } }, 'statusUpdate.taskId: is required'],
    [
      'event',
      { artifactUpdate: { taskId: 't', artifact: { artifactId: 'a' }, append: 1 } },
      'artifactUpdate.append: must be true or false',
    ],
    ['list.result', { tasks: [{ id: 't' }] }, 'tasks[0].status: is required'],
  ];
  it.each(cases)('%s %j', (shape, raw, expected) => {
    expect(problem(shape, raw)).toEqual(expected);
  });
});

describe('1.0 reads what ProtoJSON allows', () => {
  const state = (value: unknown): unknown => {
    const decoded = v10.decode('get.result', { id: 't', status: value }, countingEnv());
    return decoded.ok ? decoded.value.status.state : decoded;
  };

  it('an enum by name or by number, and its zero if absent or null', () => {
    expect([state(status), state({ state: 2 }), state({ state: 8 })]).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_WORKING',
      'TASK_STATE_AUTH_REQUIRED',
    ]);
    expect([state({}), state({ state: null }), state({ state: 0 })]).toEqual(Array(3).fill('TASK_STATE_UNSPECIFIED'));
  });

  it('an int64 as a string, as the draft writes it', () => {
    const numbered = { id: 't', status, generation: '7' };
    const decoded = v10.decode('get.result', numbered, countingEnv());
    if (!decoded.ok) throw new Error('not read');
    expect(decoded.value).toEqual({ id: 't', status, generation: 7 });
    expect(v10Generation.encode('get.result', decoded.value)).toEqual(numbered);
    expect(v10.encode('get.result', decoded.value)).toEqual({ id: 't', status });
  });
});

describe('1.0 writes an error', () => {
  it('with the data of a foreign error, as far as ErrorInfo can hold it', () => {
    const told = new A2AError('INTERNAL_ERROR', 'no', { data: { details: 'why', depth: 2 }, info: { taskId: 't' } });
    const written = v10.error.write(told);
    expect(written.data).toMatchObject([{ reason: 'INTERNAL_ERROR', metadata: { details: 'why', taskId: 't' } }]);
    expect(v10.error.read(written).details.info).toEqual({ details: 'why', taskId: 't' });
    expect(v10.error.write(new A2AError('INTERNAL_ERROR', 'no', { data: { depth: 2 } })).data).not.toHaveProperty('0.metadata');
  });
});
