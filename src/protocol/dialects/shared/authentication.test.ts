import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { SecurityScheme } from '../../card.ts';
import { readAuthentication, writeAuthentication } from './authentication.ts';
import { attempt } from './read.ts';

const schemes = (names: unknown, credentials?: unknown): unknown => readAuthentication({ schemes: names, credentials })?.schemes;
const written = (...given: SecurityScheme[]) => writeAuthentication(Object.fromEntries(given.map((scheme, at) => [`s${at}`, scheme])));

describe('reading authentication', () => {
  it('reads each name as a scheme, any of which is enough', () => {
    expect(readAuthentication({ schemes: ['Bearer', 'Basic'] })).toEqual({
      schemes: { Bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } }, Basic: { httpAuthSecurityScheme: { scheme: 'Basic' } } },
      requirements: [{ schemes: { Bearer: {} } }, { schemes: { Basic: {} } }],
    });
  });

  it.each([
    ['apiKey', undefined, { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } }],
    ['api_key', '{"in":"cookie","name":"k"}', { apiKeySecurityScheme: { location: 'cookie', name: 'k' } }],
    ['ApiKey', '{"in":"body","name":7}', { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } }],
    ['OAuth2', '{"tokenUrl":"t"}', { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 't', scopes: {} } } } }],
    [
      'oauth2',
      '{"authorizationUrl":"a","refreshUrl":"r","scopes":{"x":1}}',
      { oauth2SecurityScheme: { flows: { implicit: { authorizationUrl: 'a', refreshUrl: 'r', scopes: { x: '' } } } } },
    ],
    ['OAuth2', undefined, { httpAuthSecurityScheme: { scheme: 'Bearer' } }],
    ['OpenIdConnect', '{"openIdConnectUrl":"u"}', { openIdConnectSecurityScheme: { openIdConnectUrl: 'u' } }],
    ['openIdConnect', '[]', { httpAuthSecurityScheme: { scheme: 'Bearer', description: '[]' } }],
    ['mutualTLS', 'ask for a certificate', { mtlsSecurityScheme: { description: 'ask for a certificate' } }],
    ['Digest', undefined, { httpAuthSecurityScheme: { scheme: 'Digest' } }],
  ])('%s with %s', (name, credentials, scheme) => expect(schemes([name], credentials)).toEqual({ [name]: scheme }));

  it('requires nothing if no scheme is listed', () => {
    expect([readAuthentication({ schemes: [] }), readAuthentication({ schemes: [''] }), readAuthentication({})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('reports the bad member', () => {
    const problem = (raw: unknown) => attempt(readAuthentication, raw, countingEnv());
    expect(problem({ schemes: 'Bearer' })).toMatchObject({ ok: false, path: 'schemes' });
    expect(problem({ schemes: ['Bearer', 1] })).toMatchObject({ ok: false, path: 'schemes[1]' });
    expect(problem({ schemes: ['Bearer'], credentials: {} })).toMatchObject({ ok: false, path: 'credentials' });
    expect(problem([])).toMatchObject({ ok: false, path: '' });
  });

  it('reads __proto__ as an ordinary name', () => {
    const read = schemes(['__proto__']) as object;
    expect(Object.keys(read)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(read)).toBeNull();
  });
});

describe('writing authentication', () => {
  it('puts the details of the schemes into one text', () => {
    expect(
      written(
        { httpAuthSecurityScheme: { scheme: 'Bearer' } },
        { apiKeySecurityScheme: { location: 'query', name: 'k' } },
        { openIdConnectSecurityScheme: { openIdConnectUrl: 'u' } },
        { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 't', scopes: { a: 'b' } } } } },
      ),
    ).toEqual({
      schemes: ['Bearer', 'ApiKey', 'OpenIdConnect', 'OAuth2'],
      credentials: '{"in":"query","name":"k","openIdConnectUrl":"u","tokenUrl":"t","scopes":{"a":"b"}}',
    });
  });

  it('lists a scheme once, with its description', () => {
    const http = { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'from the portal' } };
    expect(written(http, http)).toEqual({ schemes: ['Bearer'], credentials: 'from the portal' });
    expect(written({ mtlsSecurityScheme: {} })).toEqual({ schemes: ['MutualTLS'] });
  });

  it('reads its own output back unchanged', () => {
    const given: SecurityScheme[] = [
      { apiKeySecurityScheme: { location: 'query', name: 'k' } },
      { openIdConnectSecurityScheme: { openIdConnectUrl: 'u' } },
      { oauth2SecurityScheme: { flows: { authorizationCode: { authorizationUrl: 'a', tokenUrl: 't', scopes: { a: 'b' } } } } },
    ];
    expect(Object.values(readAuthentication(written(...given))?.schemes ?? {})).toEqual(given);
  });
});
