import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { A2AError } from '../../errors.ts';
import { messageId } from '../../ids.ts';
import type { Operation } from '../../operations.ts';
import { createRegistry } from '../create-registry.ts';
import type { Dialect } from '../dialect.ts';
import { dialectLosses } from '../loss-table.ts';
import { DIALECTS } from '../registry.ts';
import { v03 } from '../v03/dialect.ts';
import { v02, v02Releases } from './dialect.ts';

const env = countingEnv();
const registry = createRegistry(DIALECTS);
const RELEASES: readonly Dialect[] = [...v02Releases.toReversed(), v02];
const each = <T>(ask: (dialect: Dialect) => T): readonly T[] => RELEASES.map(ask);

describe('each release of 0.2', () => {
  it('is listed in order, 0.2.0 first', () => {
    expect(each((dialect) => dialect.id)).toEqual(['v02.0', 'v02.1', 'v02.2', 'v02.3', 'v02.4', 'v02.5', 'v02']);
    expect(v02.title).toBe('A2A 0.2.6');
  });

  it('adds methods: list and delete of push configs in 0.2.5, and never the extended card', () => {
    const has = (operation: Operation) => each((dialect) => dialect.methods[operation] !== undefined);
    const [always, since5, never] = [Array(7).fill(true), [false, false, false, false, false, true, true], Array(7).fill(false)];
    for (const operation of ['send', 'stream', 'get', 'cancel', 'subscribe', 'push.create', 'push.get'] as const) {
      expect(has(operation)).toEqual(always);
    }
    for (const operation of ['push.list', 'push.delete'] as const) expect(has(operation)).toEqual(since5);
    for (const operation of ['extendedCard', 'list'] as const) expect(has(operation)).toEqual(never);
  });

  it('refuses shapes that it lacks as not in the dialect, in both directions', () => {
    expect(v02.decode('extendedCard.request', {}, env)).toEqual({ ok: false, reason: 'not-in-dialect' });
    expect(v02.operationOf('tasks/list')).toBeUndefined();
    const [oldest] = RELEASES;
    expect(oldest?.decode('push.list.request', { id: 't' }, env)).toEqual({ ok: false, reason: 'not-in-dialect' });
    expect(() => oldest?.encode('push.delete.request', {} as never)).toThrow(expect.objectContaining({ kind: 'UNSUPPORTED_OPERATION' }));
  });

  it('adds members', () => {
    const lacks = (field: string) => each((dialect) => dialectLosses(dialect).some((loss) => loss.field === field)).filter(Boolean).length;
    expect(lacks('Message.referenceTaskIds')).toBe(1);
    expect(lacks('AgentCapabilities.extendedAgentCard')).toBe(1);
    for (const field of ['Message.extensions', 'Artifact.extensions', 'PushConfig.id', 'AgentCard.iconUrl']) expect(lacks(field)).toBe(2);
    expect(lacks('PushGetRequest.id')).toBe(5);
    for (const field of ['AgentCard.signatures', 'AgentSkill.securityRequirements', 'SecurityScheme.mtlsSecurityScheme']) {
      expect(lacks(field)).toBe(7);
    }
    const references = dialectLosses(v02Releases.at(-1) ?? v02).find((loss) => loss.field === 'Message.referenceTaskIds');
    expect(references).toMatchObject({ reason: 'came with 0.2.1', clause: 'A2A 0.2.0 a2a.json: no Message.referenceTaskIds' });
  });

  it('writes acceptedOutputModes in every configuration, but no configuration by itself', () => {
    const message = { messageId: messageId('m1'), role: 'ROLE_USER', parts: [{ text: 'hi' }] } as const;
    const modes = (configuration: object) =>
      each((dialect) => (dialect.encode('send.request', { message, configuration }) as { configuration: object }).configuration);
    expect(modes({ returnImmediately: true })).toEqual(Array(7).fill({ acceptedOutputModes: [], blocking: false }));
    for (const dialect of RELEASES) expect(dialect.encode('send.request', { message })).not.toHaveProperty('configuration');
  });

  it('has no -32007, and has the extensions header since 0.2.4', () => {
    expect(each((dialect) => dialect.error.write(new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED')).code)).toEqual(Array(7).fill(-32004));
    expect(each((dialect) => dialect.error.write(new A2AError('TASK_FINISHED')).code)).toEqual(Array(7).fill(-32600));
    const header = 'X-A2A-Extensions';
    expect(each((dialect) => dialect.wire.extensionsHeader)).toEqual([undefined, undefined, undefined, undefined, header, header, header]);
    expect({ ...v02.traits, streamsThroughQuestions: true }).toEqual(v03.traits);
  });
});

describe('detection of requests and cards', () => {
  it('never wins a request from 0.3', () => {
    for (const params of [{}, { message: { kind: 'message', parts: [] } }]) {
      expect(registry.detect({ path: '/a2a/jsonrpc', method: 'message/send', params })?.id).toBe('v03');
    }
    expect(each((dialect) => dialect.detect({ method: 'message/send', params: { message: { kind: 'message' } } }))).toEqual(
      Array(7).fill('grammar'),
    );
    expect(each((dialect) => dialect.detect({ method: 'tasks/pushNotificationConfig/list' }))).toEqual([
      ...Array(5).fill('no'),
      ...Array(2).fill('grammar'),
    ]);
    expect(v02.detect({ path: '/a2a' })).toBe('no');
  });

  const card = {
    name: 'E',
    description: '',
    url: 'https://h.example/',
    version: '1',
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'e', name: 'E', description: 'd', tags: [] }],
  };
  const whose = (raw: object) => registry.readCard(raw, env)?.dialect.id;

  it('recognises cards that name one of its releases', () => {
    const versions = ['0.2.0', '0.2.1', '0.2.2', '0.2.3', '0.2.4', '0.2.5', '0.2.6', '0.2.9', '0.2', '0.20.0'];
    expect(versions.map((protocolVersion) => whose({ ...card, protocolVersion }))).toEqual([
      'v02.0',
      'v02.1',
      'v02.2',
      'v02.3',
      'v02.4',
      'v02.5',
      'v02',
      'v02',
      'v02',
      'v03',
    ]);
  });

  it('writes the transport since 0.2.4 and the version since 0.2.5', () => {
    const { url, ...rest } = card;
    const canonical = { ...rest, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.2' }] };
    const says = each((dialect) => dialect.card.write(canonical) as { preferredTransport?: string; protocolVersion?: string });
    const none = Array(4).fill(undefined);
    expect(says.map((written) => written.preferredTransport)).toEqual([...none, 'JSONRPC', 'JSONRPC', 'JSONRPC']);
    expect(says.map((written) => written.protocolVersion)).toEqual([...none, undefined, '0.2.5', '0.2.6']);
    expect(v02.card.detect({ ...card, protocolVersion: '0.20.0' })).toBe('no');
  });

  it('reads a card without a version as 0.2.4’s if it has what 0.2 requires and 0.1 does not', () => {
    expect(whose(card)).toBe('v02.4');
    const others = [
      { ...card, authentication: { schemes: [] } },
      { ...card, interfaces: [] },
      { ...card, defaultInputModes: ['text'] },
      { ...card, defaultInputModes: undefined },
      { ...card, skills: [{ id: 'e', name: 'E' }] },
      { ...card, skills: undefined },
    ];
    for (const raw of others) expect(v02Releases.map((dialect) => dialect.card.detect(raw))).toEqual(Array(6).fill('no'));
  });

  it('keeps a requirement whose scheme it can’t write', () => {
    const secured = {
      ...card,
      supportedInterfaces: [],
      securitySchemes: { tls: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { tls: {} } }],
    };
    expect(v02.card.write(secured)).toMatchObject({ securitySchemes: {}, security: [{ tls: [] }] });
  });
});
