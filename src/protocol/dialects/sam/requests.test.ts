import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { messageId, taskId } from '../../ids.ts';
import type { SendRequest } from '../../requests.ts';
import type { ReadEnv } from '../dialect.ts';
import { sam, samDocumented } from './dialect.ts';

const message = { message_id: 'm', role: 'user', parts: [{ text: 'hi' }] };
const read = (params: unknown, env: Partial<ReadEnv> = {}) => sam.decode('send.request', params, { ...countingEnv(), ...env });
const problem = (params: unknown, env: Partial<ReadEnv> = {}) => {
  const found = read(params, env);
  return found.ok || found.reason !== 'invalid' ? found : `${found.path}: ${found.problem}`;
};
const request = (params: unknown, env: Partial<ReadEnv> = {}): SendRequest => {
  const found = read(params, env);
  if (!found.ok) throw new Error(JSON.stringify(found));
  return found.value;
};
const canonical = (members: object): SendRequest => ({
  message: { messageId: messageId('m'), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
  ...members,
});

describe("the caller's name for the task", () => {
  it.each([
    ['the envelope id, as text', message, 'T', 'T'],
    ['the envelope id, as a number', message, 7, '7'],
    ['zero is an id', message, 0, '0'],
    ['task_id before the envelope id', { ...message, task_id: 'T' }, 'req', 'T'],
    ['taskId before the envelope id', { ...message, taskId: 'T' }, 'req', 'T'],
    ['an empty task_id counts as none', { ...message, task_id: '' }, 'req', 'req'],
    ['no id at all: a null envelope', message, null, undefined],
    ['an empty envelope id is no name', message, '', undefined],
  ])('%s', (_, sent, rpcId, alias) => {
    const found = request({ message: sent }, { rpcId });
    expect(found.alias).toBe(alias);
    expect(found.message.taskId).toBeUndefined();
  });

  it('is written into the message in place of a task id', () => {
    expect(samDocumented.encode('send.request', canonical({ alias: 'A' }))).toMatchObject({ message: { task_id: 'A' } });
    expect(sam.encode('send.request', canonical({ alias: 'A' }))).toMatchObject({ message: { taskId: 'A' } });
    const both = canonical({ alias: 'A' });
    const named = { ...both, message: { ...both.message, taskId: taskId('T') } };
    expect(sam.encode('send.request', named)).toMatchObject({ message: { taskId: 'A' } });
  });

  it('is the task id when a canonical caller uses one', () => {
    const followUp = { message: { ...canonical({}).message, taskId: taskId('T') } };
    const wire = samDocumented.encode('send.request', followUp);
    expect(wire).toMatchObject({ message: { task_id: 'T' } });
    expect(request(wire, { rpcId: 'req' }).alias).toBe('T');
  });

  it('is not invented by the writer', () => {
    expect(Object.keys((sam.encode('send.request', canonical({})) as { message: object }).message)).not.toContain('taskId');
  });

  it('may have at most 128 characters, in each place', () => {
    expect(problem({ message: { ...message, task_id: 'x'.repeat(129) } })).toBe('message.taskId: must be at most 128 characters');
    expect(problem({ message }, { rpcId: 'x'.repeat(129) })).toBe('id: must be at most 128 characters');
    expect(request({ message }, { rpcId: 'x'.repeat(128) }).alias).toHaveLength(128);
  });
});

describe('a bad request is refused with its path', () => {
  const withPart = (part: unknown) => ({ message: { ...message, parts: [{ text: 'fine' }, part] } });
  it.each([
    ['params that are no object', 'hi', ': must be an object'],
    ['no message', {}, 'message: is required'],
    ['no message id', { message: { ...message, message_id: undefined } }, 'message.messageId: is required'],
    ['another kind', { message: { ...message, kind: 'task' } }, 'message.kind: must be message'],
    [
      'an unknown role',
      { message: { ...message, role: 'ROLE_USER' } },
      'message.role: has the unknown value "ROLE_USER"; known: user, agent',
    ],
    ['no parts', { message: { ...message, parts: [] } }, 'message.parts: must have at least one part'],
    [
      'too many parts',
      { message: { ...message, parts: Array.from({ length: 101 }, () => ({ text: 'x' })) } },
      'message.parts: must have at most 100 parts',
    ],
    ['an empty part', withPart({}), 'message.parts[1]: must have exactly one of text, file, data; has 0'],
    ['two contents', withPart({ text: 'a', data: {} }), 'message.parts[1]: must have exactly one of text, file, data; has 2'],
    ['null is no data', withPart({ data: null }), 'message.parts[1]: must have exactly one of text, file, data; has 0'],
    ['a kind that the part is not', withPart({ kind: 'data', text: 'a' }), 'message.parts[1].kind: must be text, as the part has text'],
    ['a kind nobody knows', withPart({ kind: 'video', file: { uri: 'u' } }), 'message.parts[1].kind: must be file, as the part has file'],
    ['text that is none', withPart({ text: 1 }), 'message.parts[1].text: must be a string'],
    ['a file of nothing', withPart({ file: { name: 'n' } }), 'message.parts[1].file: must have exactly one of bytes, uri'],
    ['a file of both', withPart({ file: { uri: 'u', bytes: '' } }), 'message.parts[1].file: must have exactly one of bytes, uri'],
    ['bytes that are not base64', withPart({ file: { bytes: '<base64>' } }), 'message.parts[1].file.bytes: is not base64'],
    ['a prototype key', withPart({ data: JSON.parse('{"__proto__":1}') }), 'message.parts[1].data: must not have the key __proto__'],
    ['metadata that is a list', { message: { ...message, metadata: [] } }, 'message.metadata: must be an object'],
    ['blocking as text', { message, configuration: { blocking: 'yes' } }, 'configuration.blocking: must be true or false'],
    [
      'authentication without a scheme',
      { message, configuration: { push_notification_config: { url: 'https://x.example', authentication: { schemes: [] } } } },
      'configuration.pushNotificationConfig.authentication.schemes: must name a scheme',
    ],
  ])('%s', (_, params, expected) => {
    expect(problem(params)).toBe(expected);
  });

  it('a bad result is refused with the name that its task id has there', () => {
    const task = { id: 't', context_id: 'c', status: { state: 'working' }, history: [{ ...message, taskId: 5 }] };
    expect(sam.decode('send.result', task, countingEnv())).toMatchObject({ path: 'history[0].taskId', problem: 'must be a string' });
  });

  it('a bad cancel is refused too', () => {
    expect(sam.decode('cancel.request', {}, countingEnv())).toMatchObject({ reason: 'invalid', path: 'id' });
  });
});

describe('both spellings', () => {
  const configuration = {
    acceptedOutputModes: ['text/plain'],
    historyLength: 2,
    returnImmediately: true,
    taskPushNotificationConfig: { url: 'https://x.example', token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } },
  };
  const push = { url: 'https://x.example', token: 't', authentication: { schemes: ['Bearer'], credentials: 'c' } };

  it('write a configuration by their own names', () => {
    expect(sam.encode('send.request', canonical({ configuration }))).toHaveProperty('configuration', {
      acceptedOutputModes: ['text/plain'],
      historyLength: 2,
      blocking: false,
      pushNotificationConfig: push,
    });
    expect(samDocumented.encode('send.request', canonical({ configuration }))).toHaveProperty('configuration', {
      accepted_output_modes: ['text/plain'],
      history_length: 2,
      blocking: false,
      push_notification_config: push,
    });
  });

  it('accept the methods of the other and no further ones', () => {
    for (const dialect of [sam, samDocumented]) {
      expect(dialect.operationOf('message/send')).toBe('send');
      expect(dialect.operationOf('tasks/send')).toBe('send');
      expect(dialect.operationOf('message/stream')).toBe('stream');
      expect(dialect.operationOf('tasks/send-streaming')).toBe('stream');
      expect(dialect.operationOf('tasks/cancel')).toBe('cancel');
      expect(dialect.operationOf('tasks/get')).toBeUndefined();
      expect(dialect.decode('get.request', { id: 't' }, countingEnv())).toEqual({ ok: false, reason: 'not-in-dialect' });
    }
    expect(sam.methods.send).toBe('message/send');
    expect(samDocumented.methods.send).toBe('tasks/send');
  });

  it('read a cancel with any name of a task id', () => {
    for (const params of [{ id: 'T' }, { taskId: 'T' }, { task_id: 'T' }]) {
      expect(sam.decode('cancel.request', params, countingEnv())).toEqual({ ok: true, value: { id: 'T' } });
    }
  });
});
