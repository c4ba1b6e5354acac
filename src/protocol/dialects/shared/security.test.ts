import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { AgentCard, SecurityScheme } from '../../card.ts';
import { readCardMembers } from './card-members.ts';
import type { Reader } from './read.ts';
import { attempt } from './read.ts';
import { readRequirement, readSchemes, writeFlatRequirement, writeFlatScheme } from './security.ts';
import { withSplitRequirements } from './split.ts';

const flow = { tokenUrl: 'https://id.example/token', scopes: { read: 'Read' } };
const code = { ...flow, authorizationUrl: 'https://id.example/auth' };

/** Each kind in the two shapes. */
const KINDS: readonly (readonly [name: string, wrapped: SecurityScheme, flat: object])[] = [
  [
    'apiKey',
    { apiKeySecurityScheme: { location: 'cookie', name: 'sid', description: 'd' } },
    { type: 'apiKey', in: 'cookie', name: 'sid', description: 'd' },
  ],
  ['http', { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } }, { type: 'http', scheme: 'Bearer', bearerFormat: 'JWT' }],
  [
    'openIdConnect',
    { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://o' } },
    { type: 'openIdConnect', openIdConnectUrl: 'https://o' },
  ],
  ['mutualTLS', { mtlsSecurityScheme: {} }, { type: 'mutualTLS' }],
  [
    'oauth2',
    { oauth2SecurityScheme: { flows: { authorizationCode: { ...code, pkceRequired: true } }, oauth2MetadataUrl: 'https://m' } },
    { type: 'oauth2', flows: { authorizationCode: { ...code, pkceRequired: true } }, oauth2MetadataUrl: 'https://m' },
  ],
  [
    'oauth2 by device',
    { oauth2SecurityScheme: { flows: { deviceCode: { ...flow, deviceAuthorizationUrl: 'https://d' } } } },
    { type: 'oauth2', flows: { deviceCode: { ...flow, deviceAuthorizationUrl: 'https://d' } } },
  ],
];

describe('a scheme', () => {
  it.each(KINDS)('%s is read wrapped, flat and as both, and written flat', (_, wrapped, flat) => {
    for (const shape of [wrapped, flat, { ...wrapped, ...flat }]) expect(schemes({ k: shape })).toEqual({ k: wrapped });
    expect(writeFlatScheme(wrapped)).toEqual(flat);
  });

  it('is read in snake_case too', () => {
    expect(schemes({ k: { http_auth_security_scheme: { scheme: 'Basic', bearer_format: '' } } })).toEqual({
      k: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    });
    expect(schemes({ o: { oauth2_security_scheme: { flows: { client_credentials: { token_url: 't' } } } } })).toEqual({
      o: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 't', scopes: {} } } } },
    });
  });

  it('is read in the in-memory form that a2a-js serves', () => {
    const held = { scheme: { $case: 'oauth2SecurityScheme', value: { flows: { flow: { $case: 'clientCredentials', value: flow } } } } };
    expect(schemes({ o: held })).toEqual({ o: { oauth2SecurityScheme: { flows: { clientCredentials: flow } } } });
  });

  it('is read from its wrapped member, which a signature covers, when the flat members differ', () => {
    expect(schemes({ k: { type: 'apiKey', in: 'query', name: 'n', httpAuthSecurityScheme: { scheme: 'Bearer' } } })).toEqual({
      k: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    });
  });

  it.each([
    ['of a type that we do not know', { type: 'magicLink', url: 'x' }],
    ['of a later version', { passkeySecurityScheme: {} }],
    ['with no flow that we know', { type: 'oauth2', flows: { tokenExchange: {} } }],
    ['with no flow, as a2a-js writes a device flow for 0.3', { type: 'oauth2', flows: {} }],
  ])('%s is left out, and the others stay', (_, unknown) => {
    expect(Object.keys(schemes({ x: unknown, k: { type: 'mutualTLS' } }))).toEqual(['k']);
  });

  it('reads an unknown location of a key as a header', () => {
    expect(schemes({ k: { type: 'apiKey', in: 'body', name: 'n' } })).toEqual({
      k: { apiKeySecurityScheme: { location: 'header', name: 'n' } },
    });
  });

  it.each<[string, unknown, path: string]>([
    ['a list', [], ''],
    ['a scheme that is text', { k: 'apiKey' }, 'k'],
    ['a type that is a number', { k: { type: 7 } }, 'k.type'],
    ['two kinds at once', { k: { mtlsSecurityScheme: {}, httpAuthSecurityScheme: { scheme: 'Basic' } } }, 'k'],
    ['a wrapped member that is text', { k: { apiKeySecurityScheme: 'x' } }, 'k.apiKeySecurityScheme'],
    ['a name that is a number', { k: { type: 'apiKey', in: 'header', name: 1 } }, 'k.name'],
    ['no place', { k: { type: 'apiKey', name: 'n' } }, 'k.location'],
    ['no flows', { k: { type: 'oauth2' } }, 'k.flows'],
    ['a flow that is text', { k: { type: 'oauth2', flows: { implicit: 'x' } } }, 'k.flows.implicit'],
    [
      'a flow without its address',
      { k: { type: 'oauth2', flows: { authorizationCode: flow } } },
      'k.flows.authorizationCode.authorizationUrl',
    ],
    ['scopes that are a list', { k: { type: 'oauth2', flows: { password: { tokenUrl: 't', scopes: [] } } } }, 'k.flows.password.scopes'],
    [
      'a scope that is a number',
      { k: { type: 'oauth2', flows: { password: { tokenUrl: 't', scopes: { a: 1 } } } } },
      'k.flows.password.scopes.a',
    ],
    [
      'a flag that is text',
      { k: { type: 'oauth2', flows: { authorizationCode: { ...code, pkceRequired: 'yes' } } } },
      'k.flows.authorizationCode.pkceRequired',
    ],
    ['a scheme named __proto__', JSON.parse('{"__proto__":{"type":"mutualTLS"}}'), ''],
    [
      'a scope named __proto__',
      { k: { type: 'oauth2', flows: { password: { tokenUrl: 't', scopes: JSON.parse('{"__proto__":"x"}') } } } },
      'k.flows.password.scopes',
    ],
  ])('%s is refused by its path', (_, raw, path) => {
    expect(attempt(readSchemes, raw, countingEnv())).toMatchObject({ ok: false, reason: 'invalid', path });
  });

  it('may be called constructor without setting one', () => {
    const read = schemes({ constructor: { type: 'mutualTLS' } });
    expect(Object.keys(read)).toEqual(['constructor']);
    expect(schemes({})['constructor']).toBeUndefined();
  });
});

describe('a requirement', () => {
  it.each<[string, unknown]>([
    ['1.0', { schemes: { oauth: { list: ['read'] }, key: {} } }],
    ['a2a-go 2.3', { schemes: { oauth: ['read'], key: [] } }],
    ['0.x', { oauth: ['read'], key: [] }],
  ])('is read as %s writes it', (_, raw) => {
    const read = required(readRequirement, raw);
    expect(read).toEqual({ schemes: { oauth: { list: ['read'] }, key: {} } });
    expect(writeFlatRequirement(read)).toEqual({ oauth: ['read'], key: [] });
  });

  it('may name a scheme called schemes', () => {
    expect(required(readRequirement, { schemes: ['a'] })).toEqual({ schemes: { schemes: { list: ['a'] } } });
  });

  it('may be empty', () => expect(required(readRequirement, {})).toEqual({ schemes: {} }));

  it.each<[unknown, path: string]>([
    ['bearer', ''],
    [{ k: 'x' }, 'k'],
    [{ k: [1] }, 'k[0]'],
    [{ schemes: { k: { list: 'x' } } }, 'k'],
    [JSON.parse('{"__proto__":[]}'), ''],
  ])('%j is refused by its path', (raw, path) => {
    expect(attempt(readRequirement, raw, countingEnv())).toMatchObject({ ok: false, path });
  });
});

describe('several flows in one scheme', () => {
  const read = schemes({ oauth: { type: 'oauth2', flows: { authorizationCode: code, clientCredentials: flow }, description: 'd' } });
  const split = (requirements: AgentCard['securityRequirements'], more: AgentCard['securitySchemes'] = {}) => {
    const skills = [{ id: 's', name: 's', description: '', tags: [], securityRequirements: requirements ?? [] }];
    const card = { skills, securitySchemes: { ...read, ...more }, securityRequirements: requirements } as unknown as AgentCard;
    const out = withSplitRequirements(card);
    expect(out.skills[0]?.securityRequirements).toEqual(out.securityRequirements);
    return out.securityRequirements;
  };

  it('become several schemes', () => {
    expect(read).toEqual({
      'oauth.authorizationCode': { oauth2SecurityScheme: { flows: { authorizationCode: code }, description: 'd' } },
      'oauth.clientCredentials': { oauth2SecurityScheme: { flows: { clientCredentials: flow }, description: 'd' } },
    });
  });

  it('any of which meets the requirement of the one', () => {
    expect(split([{ schemes: { oauth: { list: ['read'] } } }])).toEqual([
      { schemes: { 'oauth.authorizationCode': { list: ['read'] } } },
      { schemes: { 'oauth.clientCredentials': { list: ['read'] } } },
    ]);
  });

  it('combined with the other requirements', () => {
    expect(split([{ schemes: { oauth: {}, key: {} } }, { schemes: { key: {} } }])).toEqual([
      { schemes: { 'oauth.authorizationCode': {}, key: {} } },
      { schemes: { 'oauth.clientCredentials': {}, key: {} } },
      { schemes: { key: {} } },
    ]);
  });

  it('but not if a scheme of that exact name exists', () => {
    expect(split([{ schemes: { oauth: {} } }], { oauth: { mtlsSecurityScheme: {} } })).toEqual([{ schemes: { oauth: {} } }]);
  });

  it('are read from a card with thousands', () => {
    const names = Array.from({ length: 3_000 }, (_, at) => `s${at}`);
    const flows = { implicit: { authorizationUrl: 'x', scopes: {} }, clientCredentials: { tokenUrl: 'x', scopes: {} } };
    const raw = {
      name: 'x',
      securitySchemes: Object.fromEntries(names.map((name) => [name, { type: 'oauth2', flows }])),
      security: [Object.fromEntries(names.map((name) => [name, []])), ...names.map((name) => ({ [name]: [] }))],
    };
    const { securityRequirements = [] } = readCardMembers(raw, [], countingEnv());
    expect(securityRequirements).toHaveLength(64 + 2 * names.length);
    expect(Object.keys(securityRequirements[0]?.schemes ?? {})).toHaveLength(names.length);
  });

  it('are limited in number', () => {
    const names = Array.from({ length: 30 }, (_, at) => `o${at}`);
    const many = schemes(Object.fromEntries(names.map((name) => [name, { type: 'oauth2', flows: { implicit: code, password: flow } }])));
    expect(split([{ schemes: Object.fromEntries(names.map((name) => [name, {}])) }], many)).toHaveLength(64);
  });
});

function schemes(raw: unknown): Record<string, SecurityScheme> {
  return required(readSchemes, raw);
}

function required<T>(reader: Reader<T>, raw: unknown): T {
  const read = attempt(reader, raw, countingEnv());
  if (!read.ok) throw new Error(JSON.stringify(read));
  return read.value;
}
