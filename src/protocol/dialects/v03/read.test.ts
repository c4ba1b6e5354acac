import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Shape } from '../../operations.ts';
import type { Dialect } from '../dialect.ts';
import { v03, v03Rest } from './dialect.ts';

const env = countingEnv();
const text = { kind: 'text', text: 'hi' };
const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [text] };
const task = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'working' } };

function problem(dialect: Dialect, shape: Shape, raw: unknown): string {
  const read = dialect.decode(shape, raw, env);
  if (read.ok) throw new Error(`read: ${JSON.stringify(read.value)}`);
  return read.reason === 'invalid' ? `${read.path}: ${read.problem}` : read.reason;
}

function value(dialect: Dialect, shape: Shape, raw: unknown): unknown {
  const read = dialect.decode(shape, raw, countingEnv());
  if (!read.ok) throw new Error(JSON.stringify(read));
  return read.value;
}

const withPart = (part: unknown) => ({ message: { ...message, parts: [part] } });
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

it('reads the instant of a list in milliseconds and as a time', () => {
  const after = (lastUpdatedAfter: unknown) => v03.decode('list.request', { lastUpdatedAfter }, countingEnv());
  const read = { ok: true, value: { historyLength: 0, statusTimestampAfter: expect.stringMatching(/^2025-08-01T10:00:00(\.000)?Z$/) } };
  expect([after(1754042400000), after('1754042400000'), after('2025-08-01T10:00:00Z')]).toEqual([read, read, read]);
});

describe('bad requests of 0.3 are refused with the path', () => {
  const cases: readonly (readonly [string, Shape, unknown, string | RegExp])[] = [
    ['no params', 'send.request', undefined, ': is required'],
    ['params that are a list', 'send.request', [], ': must be an object'],
    ['no message', 'send.request', {}, 'message: is required'],
    ['no messageId', 'send.request', { message: { ...message, messageId: undefined } }, 'message.messageId: is required'],
    ['an empty messageId', 'send.request', { message: { ...message, messageId: '' } }, 'message.messageId: must not be empty'],
    ['an id that is too long', 'get.request', { id: 'x'.repeat(129) }, 'id: must be at most 128 characters'],
    ['no role', 'send.request', { message: { ...message, role: undefined } }, 'message.role: is required'],
    [
      'a role of 1.0',
      'send.request',
      { message: { ...message, role: 'ROLE_USER' } },
      'message.role: has the unknown value "ROLE_USER"; known: user, agent',
    ],
    ['no parts', 'send.request', { message: { ...message, parts: undefined } }, 'message.parts: is required'],
    ['empty parts', 'send.request', { message: { ...message, parts: [] } }, 'message.parts: must have at least one part'],
    [
      'too many parts',
      'send.request',
      { message: { ...message, parts: Array(101).fill(text) } },
      'message.parts: must have at most 100 parts',
    ],
    [
      'a part of an unknown kind',
      'send.request',
      withPart({ kind: 'video' }),
      'message.parts[0].kind: has the unknown value "video"; known: text, file, data',
    ],
    ['a text part without text', 'send.request', withPart({ kind: 'text', data: {} }), 'message.parts[0].text: is required'],
    ['a part of nothing', 'send.request', withPart({}), 'message.parts[0]: must have exactly one of text, file, data; has 0'],
    [
      'a part of two',
      'send.request',
      withPart({ text: 'a', data: {} }),
      'message.parts[0]: must have exactly one of text, file, data; has 2',
    ],
    [
      'a file of nothing',
      'send.request',
      withPart({ kind: 'file', file: {} }),
      'message.parts[0].file: must have exactly one of bytes, uri',
    ],
    [
      'a file of both',
      'send.request',
      withPart({ kind: 'file', file: { bytes: 'aGk=', uri: 'x:y' } }),
      'message.parts[0].file: must have exactly one of bytes, uri',
    ],
    [
      'bytes that are not base64',
      'send.request',
      withPart({ kind: 'file', file: { bytes: '%' } }),
      'message.parts[0].file.bytes: is not base64',
    ],
    ['data that is no object', 'send.request', withPart({ kind: 'data', data: [1] }), 'message.parts[0].data: must be an object'],
    ['data too deep', 'send.request', withPart({ kind: 'data', data: deep(65) }), 'message.parts[0].data: is nested deeper than 64'],
    [
      'a prototype key',
      'send.request',
      JSON.parse('{"message":{"messageId":"m","role":"user","parts":[{"text":"a"}],"metadata":{"__proto__":{}}}}'),
      'message.metadata: must not have the key __proto__',
    ],
    [
      'blocking that is text',
      'send.request',
      { message, configuration: { blocking: 'yes' } },
      'configuration.blocking: must be true or false',
    ],
    [
      'a negative historyLength',
      'get.request',
      { id: 't', historyLength: -1 },
      'historyLength: must be a whole number from 0 to 2147483647',
    ],
    ['no id', 'cancel.request', {}, 'id: is required'],
    ['a taskId that is no text', 'cancel.request', { taskId: 7 }, 'taskId: must be a string'],
    [
      'a push config without url',
      'push.create.request',
      { taskId: 't', pushNotificationConfig: {} },
      'pushNotificationConfig.url: is required',
    ],
    ['no push config', 'push.create.request', { taskId: 't' }, 'pushNotificationConfig: is required'],
    [
      'authentication without a scheme',
      'push.create.request',
      { taskId: 't', pushNotificationConfig: { url: 'x:y', authentication: { schemes: [] } } },
      'pushNotificationConfig.authentication.schemes: must name a scheme',
    ],
    ['a delete without config id', 'push.delete.request', { id: 't' }, 'pushNotificationConfigId: is required'],
    ['a page that is too large', 'list.request', { pageSize: 101 }, 'pageSize: must be from 1 to 100'],
    [
      'an instant that is text',
      'list.request',
      { lastUpdatedAfter: 'now' },
      'lastUpdatedAfter: must be milliseconds since 1970, or a time as in RFC 3339',
    ],
    [
      'an instant beyond time',
      'list.request',
      { lastUpdatedAfter: 9e15 },
      'lastUpdatedAfter: must be milliseconds since 1970, or a time as in RFC 3339',
    ],
    [
      'an unknown state',
      'list.request',
      { status: 'input_required' },
      /^status: has the unknown value "input_required"; known: unknown, submitted/,
    ],
  ];
  for (const [name, shape, raw, expected] of cases) {
    it(name, () => {
      const said = problem(v03, shape, raw);
      if (typeof expected === 'string') expect(said).toBe(expected);
      else expect(said).toMatch(expected);
    });
  }
});

describe('results of 0.3', () => {
  it('recognises events without kind by their members', () => {
    const { kind: _, ...bare } = task;
    expect(value(v03, 'event', bare)).toHaveProperty('task.id', 't1');
    expect(value(v03, 'event', { taskId: 't1', status: { state: 'working' } })).toEqual({
      statusUpdate: { taskId: 't1', contextId: '', status: { state: 'TASK_STATE_WORKING' } },
    });
    expect(value(v03, 'event', { taskId: 't1', artifact: { artifactId: 'a', parts: [] } })).toHaveProperty('artifactUpdate.artifact');
    expect(value(v03, 'event', { role: 'agent', parts: [{ text: 'a' }] })).toEqual({
      message: { messageId: 'minted-1', role: 'ROLE_AGENT', parts: [{ text: 'a' }] },
    });
    expect(problem(v03, 'event', {})).toBe('kind: is required');
    expect(problem(v03, 'event', { kind: 'artifact' })).toMatch(/^kind: has the unknown value "artifact"/);
  });

  it('reads a task or a message as the result of a send, and nothing else', () => {
    expect(value(v03, 'send.result', message)).toHaveProperty('message.role', 'ROLE_USER');
    expect(problem(v03, 'send.result', { kind: 'status-update', taskId: 't', status: { state: 'working' } })).toBe(
      ': must be a task or a message',
    );
  });

  it('reads every state, both spellings of cancel(l)ed, and no other', () => {
    const states = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'cancelled', 'failed', 'rejected', 'auth-required'];
    const read = states.map(
      (state) => (value(v03, 'get.result', { ...task, status: { state } }) as { status: { state: string } }).status.state,
    );
    expect(read).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_COMPLETED',
      'TASK_STATE_CANCELED',
      'TASK_STATE_CANCELED',
      'TASK_STATE_FAILED',
      'TASK_STATE_REJECTED',
      'TASK_STATE_AUTH_REQUIRED',
    ]);
    expect(value(v03, 'get.result', { ...task, status: { state: 'unknown' } })).toHaveProperty('status.state', 'TASK_STATE_UNSPECIFIED');
    expect(problem(v03, 'get.result', { ...task, status: {} })).toBe('status.state: is required');
    expect(problem(v03, 'get.result', { ...task, status: { state: 'TASK_STATE_WORKING' } })).toMatch(/^status.state: has the unknown/);
  });

  it('reads null as absent, and a timestamp without a zone as UTC', () => {
    const nulls = { ...task, artifacts: null, history: null, metadata: null, status: { state: 'working', message: null, timestamp: null } };
    expect(value(v03, 'get.result', nulls)).toEqual({ id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } });
    const zoneless = { ...task, status: { state: 'working', timestamp: '2025-08-01T10:00:00.123456' } };
    expect(value(v03, 'get.result', zoneless)).toHaveProperty('status.timestamp', '2025-08-01T10:00:00.123456Z');
  });

  it('joins chunks that coding-agent-a2a keeps as artifacts of their own, and nothing else', () => {
    const artifact = (artifactId: string, name: string, part: object = text) => ({ artifactId, name, parts: [part] });
    const artifactsOf = (artifacts: readonly object[]) =>
      (value(v03, 'get.result', { ...task, artifacts }) as { artifacts: { artifactId: string; parts: object[] }[] }).artifacts;
    const chunks = ['u1', 'u2', 'u3'].map((id) => artifact(id, 'assistant-response'));
    const result = artifact('u4', 'result', { kind: 'data', data: {} });
    expect(artifactsOf([...chunks, result]).map(({ artifactId, parts }) => [artifactId, parts])).toEqual([
      ['u1', [{ text: 'hihihi' }]],
      ['u4', [{ data: {} }]],
    ]);
    const others = [
      [artifact('a', 'page'), artifact('b', 'page')],
      [artifact('assistant-response', 'assistant-response'), artifact('assistant-response-2', 'assistant-response')],
      [artifact('u1', 'assistant-response'), { ...artifact('u2', 'assistant-response'), metadata: { a: 1 } }],
    ];
    expect(others.map((artifacts) => artifactsOf(artifacts).length)).toEqual([2, 2, 2]);
  });

  it('unwraps data only with its mark and in its form', () => {
    const data = (part: unknown) => (value(v03, 'send.request', withPart(part)) as { message: { parts: unknown[] } }).message.parts[0];
    expect(data({ kind: 'data', data: { value: null }, metadata: { data_part_compat: true } })).toEqual({ data: null });
    expect(data({ kind: 'data', data: { value: 1, x: 2 }, metadata: { data_part_compat: true } })).toEqual({
      data: { value: 1, x: 2 },
      metadata: { data_part_compat: true },
    });
    expect(data({ kind: 'data', data: { value: 1 }, metadata: { data_part_compat: 'true' } })).toHaveProperty('data', { value: 1 });
  });
});

describe('0.3 REST', () => {
  const proto = { messageId: 'm1', role: 'ROLE_USER', content: [{ text: 'hi' }] };

  it('reads ProtoJSON: enum numbers, absent zeros, snake_case', () => {
    const raw = { id: 't1', context_id: 'c1', status: { state: 5, update: { message_id: 'm', role: 2, content: [{ text: 'a' }] } } };
    expect(value(v03Rest, 'get.result', raw)).toEqual({
      id: 't1',
      contextId: 'c1',
      status: { state: 'TASK_STATE_CANCELED', message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a' }] } },
    });
    for (const status of [{}, { state: null }]) {
      expect(value(v03Rest, 'get.result', { id: 't1', status })).toHaveProperty('status.state', 'TASK_STATE_UNSPECIFIED');
    }
    expect(value(v03Rest, 'get.result', { id: 't1', status: { state: 'TASK_STATE_CANCELED' } })).toHaveProperty(
      'status.state',
      'TASK_STATE_CANCELED',
    );
  });

  it('reports the path of a bad member', () => {
    const part = (bad: unknown) => problem(v03Rest, 'send.request', { message: { ...proto, content: [bad] } });
    expect(part({ text: 'a', file: {} })).toBe('message.content[0]: must have exactly one of text, file, data; has 2');
    expect(part({ file: {} })).toBe('message.content[0].file: must have exactly one of fileWithBytes, fileWithUri');
    expect(part({ data: { a: 1 } })).toBe('message.content[0].data.data: is required');
    expect(part({ data: { data: 1 } })).toBe('message.content[0].data.data: must be an object');
    expect(problem(v03Rest, 'event', { task: {}, message: {} })).toBe(
      ': must have exactly one of task, message, statusUpdate, artifactUpdate; has 2',
    );
    expect(problem(v03Rest, 'event', { msg: { role: 'user' } })).toMatch(/^message\.role: has the unknown value "user"/);
    expect(problem(v03Rest, 'event', { task: { id: 't' } })).toBe('task.status: is required');
    expect(problem(v03Rest, 'event', { status_update: {} })).toBe('statusUpdate.taskId: is required');
    expect(problem(v03Rest, 'event', { artifactUpdate: { taskId: 't' } })).toBe('artifactUpdate.artifact: is required');
    expect(problem(v03Rest, 'send.request', { message: { ...proto, content: null } })).toBe('message.content: is required');
    expect(problem(v03Rest, 'get.request', {})).toBe('id: is required');
    expect(problem(v03Rest, 'push.create.request', { taskId: 't1' })).toBe('pushNotificationConfig: is required');
    expect(problem(v03Rest, 'push.get.result', { name: 'x', pushNotificationConfig: { url: 'x:y' } })).toBe('name: is required');
    expect(problem(v03Rest, 'push.get.result', { name: 7, pushNotificationConfig: { url: 'x:y' } })).toBe('name: must be a string');
  });

  it('reads a configuration without blocking as not blocking, and an absent configuration as the default', () => {
    const immediately = (configuration: unknown) =>
      (value(v03Rest, 'send.request', { message: proto, configuration }) as { configuration?: object }).configuration;
    expect(immediately({})).toEqual({ returnImmediately: true });
    expect(immediately({ blocking: false })).toEqual({ returnImmediately: true });
    expect(immediately({ blocking: true, historyLength: 0 })).toEqual({ returnImmediately: false });
    expect(immediately(undefined)).toBeUndefined();
    expect(immediately(null)).toBeUndefined();
  });

  it('reads ids from the path or from resource names', () => {
    const name = 'tasks/a/b/pushNotificationConfigs/p1';
    expect(value(v03Rest, 'push.get.request', { name })).toEqual({ taskId: 'a/b', id: 'p1' });
    expect(value(v03Rest, 'push.list.request', { parent: 'tasks/t1' })).toEqual({ taskId: 't1' });
    expect(value(v03Rest, 'cancel.request', { name: 'tasks/t1' })).toEqual({ id: 't1' });
    expect(value(v03Rest, 'push.create.request', { config: { name, pushNotificationConfig: { url: 'x:y' } } })).toEqual({
      taskId: 'a/b',
      url: 'x:y',
    });
    const python = {
      parent: 'tasks/t1',
      config: { name: 'tasks/t1/pushNotificationConfigs/None', pushNotificationConfig: { url: 'x:y' } },
    };
    expect(value(v03Rest, 'push.create.request', { taskId: 't1', ...python })).toEqual({ taskId: 't1', url: 'x:y' });
    const query = { taskId: 't1', configId: 'q', pushNotificationConfig: { url: 'x:y' } };
    expect(value(v03Rest, 'push.create.request', query)).toEqual({ taskId: 't1', id: 'q', url: 'x:y' });
  });
});
