import { describe, expect, it } from 'vitest';
import { createRegistry, DIALECTS } from '#protocol';
import { CARD_ROWS, paperSkill, rpc, V10 } from './support/card-rows.ts';
import { countingEnv } from './support/env.ts';
import { expectFigure } from './support/figures.ts';

/** Each card is read without a hint about its dialect. */
const registry = createRegistry(DIALECTS);

describe('a card of', () => {
  it.each(CARD_ROWS)('$source', ({ raw, dialect, calls, card }) => {
    const found = registry.readCard(plain(raw), countingEnv());
    expect(found?.dialect.id).toBe(dialect);
    expect(found?.card).toMatchObject({ ok: true, value: card });
    expect(found?.calls.id).toBe(calls ?? dialect);
  });

  it('every family of dialects has a row in test/support/card-rows.ts', () => {
    const families = new Set(DIALECTS.map((dialect) => dialect.id.split('.')[0]));
    expect([...families].filter((family) => !CARD_ROWS.some((row) => row.dialect === family))).toEqual([]);
  });
});

describe('the dialect of an interface', () => {
  it.each([
    ['1.0', 'v10'],
    ['1.0.1', 'v10'],
    ['1.7', 'v10'],
    ['0.3', 'v03'],
    ['0.3.0', 'v03'],
    ['0.2.6', 'v02'],
    ['0.1', 'v01'],
    ['2.0', undefined],
    ['10.0', undefined],
    ['', undefined],
    ['latest', undefined],
  ])('of version %s', (protocolVersion, dialect) => {
    expect(registry.speaks({ protocolVersion })).toBe(registry.byId(dialect ?? ''));
  });
});

describe('a scheme of an unknown kind', () => {
  const unknown = { securitySchemes: { k: { type: 'magicLink' } } };
  const old = { ...V10, supportedInterfaces: undefined, url: 'https://a.example', ...unknown, security: [{ k: [] }] };
  it.each([
    ['1.0', { ...V10, ...unknown, securityRequirements: [{ schemes: { k: {} } }] }],
    ['0.3', { ...old, protocolVersion: '0.3.0' }],
    ['0.2', { ...old, protocolVersion: '0.2.6' }],
    ['SAM', { ...old, url: 'solace:ns/a2a/v1/agent/request/A', protocolVersion: '0.3.0' }],
    ['Cortex', { ...old, interfaces: [{ url: 'https://a.example/a2a', protocol: 'json-rpc', version: '1.0' }] }],
  ])('is still required, on a card of %s', (_, raw) => {
    const found = registry.readCard(plain(raw), countingEnv());
    expect(found?.card).toMatchObject({ ok: true, value: { securitySchemes: {}, securityRequirements: [{ schemes: { k: {} } }] } });
  });
});

describe('several OAuth flows in one scheme', () => {
  const flows = { implicit: { authorizationUrl: 'a', scopes: {} }, password: { tokenUrl: 't', scopes: {} } };
  const both = { securitySchemes: { o: { type: 'oauth2', flows } } };
  const old = { ...V10, supportedInterfaces: undefined, url: 'https://a.example', ...both, security: [{ o: ['r'] }] };
  it.each([
    ['1.0', { ...V10, ...both, securityRequirements: [{ schemes: { o: { list: ['r'] } } }] }],
    ['0.3', { ...old, protocolVersion: '0.3.0' }],
    ['SAM', { ...old, url: 'solace:ns/a2a/v1/agent/request/A', protocolVersion: '0.3.0' }],
    ['Cortex', { ...old, interfaces: [{ url: 'https://a.example/a2a', protocol: 'json-rpc', version: '1.0' }] }],
  ])('are a choice, on a card of %s', (_, raw) => {
    const list = ['r'];
    const requirements = [{ schemes: { 'o.implicit': { list } } }, { schemes: { 'o.password': { list } } }];
    expect(registry.readCard(plain(raw), countingEnv())?.card).toMatchObject({ ok: true, value: { securityRequirements: requirements } });
  });
});

describe('hostile cards', () => {
  it.each([undefined, null, 7, 'card', true, [], [V10], {}, { hello: 'world' }])('%j is no card', (raw) => {
    expect(registry.readCard(raw, countingEnv())).toBeUndefined();
  });

  it.each<[string, object, path: string]>([
    ['a name that is a number', { name: 7 }, 'name'],
    ['no name', { name: undefined }, 'name'],
    ['interfaces that are an object', { supportedInterfaces: {} }, 'supportedInterfaces'],
    ['an interface that is text', { supportedInterfaces: ['https://a.example'] }, 'supportedInterfaces[0]'],
    [
      'an interface without a url',
      { supportedInterfaces: [...V10.supportedInterfaces, { protocolBinding: 'GRPC' }] },
      'supportedInterfaces[1].url',
    ],
    [
      'a tenant that is too long',
      { supportedInterfaces: [{ ...rpc('u', '1.0'), tenant: 'x'.repeat(129) }] },
      'supportedInterfaces[0].tenant',
    ],
    ['capabilities that are a list', { capabilities: [] }, 'capabilities'],
    ['a flag that is text', { capabilities: { streaming: 'yes' } }, 'capabilities.streaming'],
    ['an extension without a URI', { capabilities: { extensions: [{}] } }, 'capabilities.extensions[0].uri'],
    [
      'params with a prototype',
      { capabilities: { extensions: [{ uri: 'u', params: JSON.parse('{"__proto__":{}}') }] } },
      'capabilities.extensions[0].params',
    ],
    ['params without an end', { capabilities: { extensions: [{ uri: 'u', params: deep(100_000) }] } }, 'capabilities.extensions[0].params'],
    ['skills that are an object', { skills: {} }, 'skills'],
    ['a skill without id and name', { skills: [{ description: 'd' }] }, 'skills[0].id'],
    ['a tag that is null', { skills: [{ id: 's', tags: ['a', null] }] }, 'skills[0].tags[1]'],
    ['modes that are text', { defaultInputModes: 'text/plain' }, 'defaultInputModes'],
    ['a provider that is text', { provider: 'Example' }, 'provider'],
    ['a scheme of two kinds', { securitySchemes: { k: { mtlsSecurityScheme: {}, apiKeySecurityScheme: {} } } }, 'securitySchemes.k'],
    ['a scheme named __proto__', { securitySchemes: JSON.parse('{"__proto__":{}}') }, 'securitySchemes'],
    ['a requirement that is text', { securityRequirements: ['k'] }, 'securityRequirements[0]'],
    ['a signature without a header', { signatures: [{ signature: 's' }] }, 'signatures[0].protected'],
  ])('%s is refused by its path', (_, members, path) => {
    const found = registry.readCard({ ...V10, ...members }, countingEnv());
    expect(found?.dialect.id).toBe('v10');
    expect(found?.card).toMatchObject({ ok: false, reason: 'invalid', path });
  });

  it('a huge card is read', () => {
    const skills = Array.from({ length: 20_000 }, (_, at) => ({ ...paperSkill, id: `s${at}`, security: [{ k: [] }] }));
    const raw = plain({ ...V10, skills, description: 'x'.repeat(5_000_000) });
    const start = performance.now();
    expect(registry.readCard(raw, countingEnv())?.card.ok).toBe(true);
    expectFigure(performance.now() - start, { below: 2000 });
  });
});

function plain(raw: unknown): unknown {
  return JSON.parse(JSON.stringify(raw));
}

function deep(depth: number): object {
  let value = {};
  for (let at = 0; at < depth; at += 1) value = { value };
  return value;
}
