import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { AgentCard } from '../../card.ts';
import { contextId, messageId, taskId } from '../../ids.ts';
import type { Shape } from '../../operations.ts';
import { createRegistry } from '../create-registry.ts';
import { DIALECTS } from '../registry.ts';
import { promptkit } from './dialect.ts';

const read = (shape: Shape, raw: unknown) => promptkit.decode(shape, raw, countingEnv());
const task = { id: taskId('t'), status: { state: 'TASK_STATE_WORKING' as const } };

describe('requests', () => {
  it('reads a task id in every spelling', () => {
    for (const raw of [{ id: 't' }, { taskId: 't' }, { task_id: 't' }, { name: 'tasks/t' }]) {
      for (const shape of ['get.request', 'cancel.request', 'subscribe.request'] as const) {
        expect(read(shape, raw)).toEqual({ ok: true, value: { id: 't' } });
      }
    }
    expect(read('get.request', { name: 't' })).toMatchObject({ ok: false, path: 'id', problem: 'is required' });
  });

  it('asks by id', () => {
    const id = taskId('t');
    expect(promptkit.encode('get.request', { id, historyLength: 5 })).toEqual({ id: 't', historyLength: 5 });
    for (const shape of ['get.request', 'cancel.request', 'subscribe.request'] as const) {
      expect(promptkit.encode(shape, { id })).toEqual({ id: 't' });
    }
  });

  it('brings a page size into range', () => {
    expect(read('list.request', { contextId: '', pageSize: 1000 })).toEqual({ ok: true, value: { pageSize: 100 } });
    expect(read('list.request', { contextId: '', pageSize: 0, pageToken: '' })).toEqual({ ok: true, value: {} });
    expect(read('list.request', undefined)).toEqual({ ok: true, value: {} });
    expect(read('list.request', { pageSize: -1 })).toMatchObject({ ok: false, path: 'pageSize' });
  });

  it('requires parts, up to the limit', () => {
    const message = { messageId: '', role: 'user' };
    expect(read('send.request', { message })).toMatchObject({ ok: false, path: 'message.parts', problem: 'is required' });
    expect(read('send.request', { message: { ...message, parts: [] } })).toMatchObject({ ok: false, path: 'message.parts' });
    const parts = Array.from({ length: 101 }, () => ({ text: 'x' }));
    expect(read('stream.request', { message: { ...message, parts } })).toMatchObject({ ok: false, path: 'message.parts' });
    expect(read('send.request', {})).toMatchObject({ ok: false, path: 'message' });
  });

  it('has no push notifications and no extended card', () => {
    expect(read('push.get.request', {})).toEqual({ ok: false, reason: 'not-in-dialect' });
    expect(promptkit.operationOf('tasks/resubscribe')).toBeUndefined();
    expect(() => promptkit.encode('extendedCard.request', {})).toThrow('PromptKit has no extendedCard.request');
  });
});

describe('results', () => {
  it('has a contextId even if the task has none', () => {
    expect(promptkit.encode('get.result', task)).toEqual({ id: 't', contextId: '', status: { state: 'working' } });
  });

  it('writes the members of a page that its tasks do not show', () => {
    const page = { tasks: [task], nextPageToken: 'p2', pageSize: 1, totalSize: 9 };
    expect(promptkit.encode('list.result', page)).toMatchObject({ nextPageToken: 'p2', pageSize: 1, totalSize: 9 });
  });

  it('refuses a page without tasks', () => {
    expect(read('list.result', { tasks: null })).toEqual({ ok: true, value: { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 } });
    expect(read('list.result', {})).toMatchObject({ ok: false, path: 'tasks' });
  });

  it('writes a direct message as one artifact, whose texts the client joins', () => {
    const message = { messageId: messageId('m'), role: 'ROLE_AGENT' as const, parts: [{ text: 'a' }, { text: 'b' }] };
    const more = { ...message, taskId: taskId('t'), contextId: contextId('c'), metadata: { x: 1 }, extensions: ['urn:e'] };
    expect(promptkit.encode('send.result', { message })).toEqual({
      id: 'm',
      contextId: '',
      status: { state: 'completed' },
      artifacts: [{ artifactId: 'artifact-1', parts: message.parts }],
    });
    expect(promptkit.encode('send.result', { message: more })).toMatchObject({
      id: 't',
      contextId: 'c',
      artifacts: [{ metadata: { x: 1 }, extensions: ['urn:e'] }],
    });
  });

  it('writes no kind anywhere', () => {
    const message = { messageId: messageId('m'), role: 'ROLE_AGENT' as const, parts: [{ text: 'a' }, { data: [1] }, { url: 'u' }] };
    const whole = { ...task, status: { ...task.status, message }, history: [message], artifacts: [] };
    expect(JSON.stringify(promptkit.encode('get.result', whole))).not.toContain('"kind"');
  });
});

describe('cards', () => {
  const registry = createRegistry(DIALECTS);
  const named = { name: 'x', capabilities: {} };
  const whose = (raw: unknown) => registry.readCard(raw, countingEnv())?.dialect.id;

  it('are recognised only without an address', () => {
    expect(whose(named)).toBe('promptkit');
    expect(promptkit.card.detect({ ...named, supportedInterfaces: [] })).toBe('grammar');
    expect(promptkit.card.detect({ ...named, url: 'https://a.example' })).toBe('no');
    expect(promptkit.card.detect({ ...named, interfaces: [{}] })).toBe('no');
    for (const raw of [{}, 'x', { name: 1 }, { name: 'an artifact', parts: [] }]) expect(promptkit.card.detect(raw)).toBe('no');
  });

  it('are read as 1.0 if they have interfaces, and by PromptKit’s reader too', () => {
    const supportedInterfaces = [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    expect(whose({ ...named, supportedInterfaces })).toBe('v10');
    expect(promptkit.card.read({ ...named, supportedInterfaces }, countingEnv())).toMatchObject({
      ok: true,
      value: { supportedInterfaces },
    });
  });

  it('have no members for security', () => {
    const card: AgentCard = {
      name: 'x',
      description: 'd',
      version: '1',
      supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { key: {} } }],
    };
    const { securitySchemes: _, securityRequirements: __, ...rest } = card;
    expect(promptkit.card.write(card)).toEqual(rest);
  });

  it('are refused with the path of the bad member', () => {
    expect(promptkit.card.read({ name: 'x', skills: [1] }, countingEnv())).toMatchObject({ ok: false, path: 'skills[0]' });
  });
});
