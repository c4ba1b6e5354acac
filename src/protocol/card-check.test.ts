import { describe, expect, it } from 'vitest';
import { CARD } from '../../test/support/card.ts';
import { schemaProblems } from '../../test/support/schemas.ts';
import { cardProblems } from './card-check.ts';
import { writeCard } from './dialects/superset.ts';

const BAD: readonly (readonly [string, object])[] = [
  ['version is missing', { version: undefined }],
  ['name must not be empty', { name: '' }],
  ['skills must be a list', { skills: 'none' }],
  ['skills[0].tags is missing', { skills: [{ id: 'x', name: 'x', description: 'x' }] }],
  ['skills[0].tags[0] must be a text', { skills: [{ id: 'x', name: 'x', description: 'x', tags: [1] }] }],
  ['capabilities.streaming must be true or false', { capabilities: { streaming: 'yes' } }],
  [
    'supportedInterfaces[0].protocolVersion is missing',
    { supportedInterfaces: [{ url: 'https://x.example', protocolBinding: 'JSONRPC' }] },
  ],
  ['securitySchemes must be an object', { securitySchemes: [] }],
];

describe('cardProblems', () => {
  it('finds no problem in a valid card or in unknown members', () => {
    expect(cardProblems(CARD)).toEqual([]);
    expect(cardProblems(writeCard(CARD))).toEqual([]);
    expect(cardProblems({ ...CARD, 'x-own': 1 })).toEqual([]);
  });

  it.each(BAD)('%s', (said, change) => {
    expect(cardProblems({ ...CARD, ...change }).map(({ path, problem }) => `${path} ${problem}`)).toContain(said);
  });

  it('requires exactly one kind of security scheme', () => {
    const said = (scheme: object) => cardProblems({ ...CARD, securitySchemes: { s: scheme } }).map(({ problem }) => problem);
    expect(said({})).toEqual([expect.stringContaining('has none')]);
    const key = { apiKeySecurityScheme: { location: 'header', name: 'X' } };
    expect(said({ ...key, mtlsSecurityScheme: {} })).toEqual([expect.stringContaining('apiKeySecurityScheme and mtlsSecurityScheme')]);
    expect(said(key)).toEqual([]);
  });

  it('rejects a list, a text or a number as a card', () => {
    for (const value of [null, [], 'x', 1]) expect(cardProblems(value)).toEqual([{ path: '', problem: 'must be an object' }]);
  });
});

describe('compared with the official schema', () => {
  it.each(BAD.filter(([said]) => !/missing|empty/.test(said)))('refuses what that refuses: %s', (_, change) => {
    expect(schemaProblems('1.0.1', 'AgentCard', JSON.parse(JSON.stringify({ ...CARD, ...change })))).not.toEqual([]);
  });

  it('accepts what the schema accepts', () => {
    expect(schemaProblems('1.0.1', 'AgentCard', CARD)).toEqual([]);
  });
});
