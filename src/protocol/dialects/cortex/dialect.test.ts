import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { AgentCard } from '../../card.ts';
import type { ErrorKind } from '../../errors.ts';
import { A2AError, ERRORS } from '../../errors.ts';
import { messageId } from '../../ids.ts';
import type { Shape } from '../../operations.ts';
import { cortex } from './dialect.ts';

const read = (shape: Shape, raw: unknown) => cortex.decode(shape, raw, countingEnv());

describe('requests', () => {
  it('answers GetAgentCard with the card', () => {
    expect(cortex.operationOf('GetAgentCard')).toBe('card');
    expect(cortex.operationOf('GetExtendedAgentCard')).toBe('extendedCard');
    for (const raw of [undefined, null, {}]) expect(read('card.request', raw)).toEqual({ ok: true, value: {} });
    expect(read('card.request', { tenant: 't' })).toEqual({ ok: true, value: { tenant: 't' } });
  });

  it('reports the path of a bad interface in its card', () => {
    const json = { protocol: 'json-rpc', url: 'https://h.example/a2a' };
    const problem = (last: object) => cortex.card.read({ name: 'A', interfaces: [json, last] }, countingEnv());
    expect(problem({ ...json, url: 7 })).toMatchObject({ path: 'interfaces[1].url', problem: 'must be a string' });
    expect(problem({ url: json.url })).toMatchObject({ path: 'interfaces[1].protocol', problem: 'is required' });
    expect(problem({ ...json, version: 1 })).toMatchObject({ path: 'interfaces[1].version', problem: 'must be a string' });
  });

  it('accepts a context id of the length that Cortex allows in a list', () => {
    const long = 'c'.repeat(256);
    expect(read('list.request', { contextId: long })).toEqual({ ok: true, value: { contextId: long } });
  });

  it('keeps a push configuration', () => {
    const push = { url: 'https://hook.example/', id: 'p' as never, token: 'x', authentication: { scheme: 'Bearer' } };
    const message = { messageId: messageId('m'), role: 'ROLE_USER' as const, parts: [{ text: 'x' }] };
    const request = { message, configuration: { taskPushNotificationConfig: push } };
    const wire = cortex.encode('send.request', request);
    expect(wire).toMatchObject({ configuration: { pushNotificationConfig: { ...push, authentication: { schemeId: 'Bearer' } } } });
    expect(read('send.request', wire)).toEqual({ ok: true, value: request });
  });
});

describe('results', () => {
  it('reads null as an unknown task', () => {
    expect(read('get.result', null)).toEqual({ ok: false, reason: 'invalid', path: '', problem: 'is required' });
    expect(read('cancel.result', null)).toMatchObject({ ok: false });
    expect(cortex.traits.cancelFinished).toBe('returns-task');
    expect(cortex.wire.nullForUnknownTask).toBe(true);
  });

  it('reads the wrappers of 1.0', () => {
    const message = { messageId: 'm', role: 'agent', parts: [{ text: 'x' }] };
    expect(read('send.result', { message })).toMatchObject({ ok: true, value: { message: { role: 'ROLE_AGENT' } } });
    expect(read('send.result', { task: {} })).toMatchObject({ ok: false, path: 'task.id' });
  });
});

describe('errors', () => {
  it('keep their kind when Cortex has no code for it', () => {
    for (const kind of Object.keys(ERRORS) as ErrorKind[]) {
      const wire = cortex.error.write(new A2AError(kind));
      expect(wire.code, kind).toBe(kind === 'INVALID_PARAMS' || kind === 'INTERNAL_ERROR' ? -32000 : ERRORS[kind].rpc);
    }
    expect(cortex.error.read({ code: -32001, message: 'Task not found' }).kind).toBe('TASK_NOT_FOUND');
    expect(cortex.error.read({ code: -32602, message: 'x' }).kind).toBe('INVALID_PARAMS');
  });

  it('are read as invalid params when they name a field', () => {
    const wrong = new A2AError('INVALID_PARAMS', 'id is required', { field: 'id' });
    expect(cortex.error.read(cortex.error.write(wrong))).toMatchObject({ kind: 'INVALID_PARAMS', details: { field: 'id' } });
    expect(cortex.error.read({ code: -32000, message: 'boom' }).kind).toBe('INTERNAL_ERROR');
  });

  it('have a 5xx status only for faults of the server', () => {
    const ours = (Object.keys(ERRORS) as ErrorKind[]).filter((kind) => cortex.wire.httpStatusOnError(kind) >= 500);
    expect(ours).toEqual(['INTERNAL_ERROR', 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE']);
    expect(cortex.wire.httpStatusOnError('METHOD_NOT_FOUND')).toBe(404);
    expect(cortex.wire.httpStatusOnError('INVALID_REQUEST')).toBe(400);
  });
});

describe('cards', () => {
  const card: AgentCard = {
    name: 'x',
    description: 'd',
    version: '1.0',
    supportedInterfaces: [
      { url: 'https://a.example/grpc', protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: 'https://a.example/agents/x/a2a/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'https://a.example/own', protocolBinding: 'urn:own', protocolVersion: '2.0' },
    ],
    capabilities: {},
    defaultInputModes: ['text/plain', 'image/png'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    securitySchemes: { tls: { mtlsSecurityScheme: {} }, key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  };

  it('are recognised by `interfaces`', () => {
    expect(cortex.card.detect({ name: 'x', interfaces: [] })).toBe('path');
    for (const raw of [{ name: 'x' }, { interfaces: {} }, { interfaces: [], supportedInterfaces: [] }, 'x']) {
      expect(cortex.card.detect(raw)).toBe('no');
    }
  });

  it('are written as Cortex reads them', () => {
    expect(cortex.card.write(card)).toMatchObject({
      url: 'https://a.example/agents/x',
      interfaces: [
        { protocol: 'grpc' },
        { url: 'https://a.example/agents/x/a2a/', protocol: 'json-rpc', version: '1.0' },
        { protocol: 'urn:own' },
      ],
      defaultInputModes: ['text', 'image/png'],
      capabilities: { stateTransitionHistory: true },
      securitySchemes: { tls: { type: 'mutualTls' }, key: { type: 'http', scheme: 'Bearer' } },
    });
    expect(cortex.card.read(JSON.parse(JSON.stringify(cortex.card.write(card))), countingEnv())).toEqual({ ok: true, value: card });
  });

  it('have an address even without an interface', () => {
    expect(cortex.card.write({ ...card, supportedInterfaces: [] })).toMatchObject({ url: '', interfaces: [] });
  });

  it('are refused with the path of the bad member', () => {
    const of = (more: object) => cortex.card.read({ name: 'x', interfaces: [], ...more }, countingEnv());
    expect(of({})).toMatchObject({ ok: true });
    expect(of({ interfaces: [{ url: 'u' }] })).toMatchObject({ ok: false, path: 'interfaces[0].protocol' });
    expect(of({ capabilities: { extensions: [{}] } })).toMatchObject({ ok: false, path: 'capabilities.extensions[0].uri' });
    expect(of({ capabilities: 1 })).toMatchObject({ ok: false, path: 'capabilities' });
    expect(of({ securitySchemes: 'x' })).toMatchObject({ ok: false, path: 'securitySchemes' });
  });
});
