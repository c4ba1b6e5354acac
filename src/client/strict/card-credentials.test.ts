import { describe, expect, it } from 'vitest';
import type { AgentCard, SecurityScheme } from '#protocol';
import { CARD } from '../../../test/support/card.ts';
import type { Credentials, PlacedCredential } from './card-credentials.ts';
import { chooseCredentials, fetchWithCredentials } from './card-credentials.ts';

const SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
  digest: { httpAuthSecurityScheme: { scheme: 'Digest' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  query: { apiKeySecurityScheme: { location: 'query', name: 'k' } },
  oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example' } },
  mtls: { mtlsSecurityScheme: {} },
};

function cardWith(...requirements: readonly (readonly string[])[]): AgentCard {
  const securityRequirements = requirements.map((names) => ({ schemes: Object.fromEntries(names.map((name) => [name, {}])) }));
  return { ...CARD, securitySchemes: SCHEMES, securityRequirements };
}

function placed(card: AgentCard, have: Credentials): readonly PlacedCredential[] | undefined {
  const choice = chooseCredentials(card, have);
  return choice.ok ? choice.placed : undefined;
}

describe('chooseCredentials', () => {
  it('meets the first requirement that the credentials satisfy completely', () => {
    const card = cardWith(['bearer', 'key'], ['oidc']);
    expect(placed(card, { bearer: 'tok' })).toEqual([{ at: 'header', name: 'Authorization', value: 'Bearer tok' }]);
    expect(placed(card, { bearer: 'tok', apiKey: 'k1' })).toHaveLength(2);
  });

  it('reports the schemes that are needed when no requirement is met', () => {
    expect(chooseCredentials(cardWith(['key'], ['digest']), { bearer: 'tok' })).toEqual({ ok: false, wanted: [['key'], ['digest']] });
    expect(chooseCredentials(cardWith(['unknown']), { bearer: 'tok' })).toEqual({ ok: false, wanted: [['unknown']] });
  });

  it('needs no credentials when the card requires none', () => {
    expect(chooseCredentials(cardWith(['key'], []), {})).toEqual({ ok: true, placed: [], unused: [] });
    expect(chooseCredentials(CARD, {})).toEqual({ ok: true, placed: [], unused: [] });
  });

  it('reports credentials that no scheme takes', () => {
    expect(chooseCredentials(CARD, { bearer: 'tok', apiKey: 'k', basic: 'u:p' })).toMatchObject({ unused: ['bearer', 'apiKey', 'basic'] });
    expect(chooseCredentials(cardWith(['basic']), { basic: 'u:p' })).toEqual({
      ok: true,
      placed: [{ at: 'header', name: 'Authorization', value: 'Basic dTpw' }],
      unused: [],
    });
  });

  it('accepts a client certificate for mutual TLS', () => {
    expect(placed(cardWith(['mtls']), { mtls: true })).toEqual([{ at: 'connection' }]);
  });
});

describe('fetchWithCredentials', () => {
  it('puts each credential in its place and keeps the rest of the request', async () => {
    let seen: Request | undefined;
    const fetch = fetchWithCredentials(
      async (request) => {
        seen = request;
        return new Response();
      },
      [
        { at: 'query', name: 'k', value: 'a b' },
        { at: 'cookie', name: 's', value: 'x' },
      ],
    );
    await fetch(new Request('https://agent.example/rpc?x=1', { method: 'POST', body: 'hello', headers: { 'A2A-Version': '1.0' } }));
    expect([seen?.url, seen?.method, seen?.headers.get('cookie'), seen?.headers.get('a2a-version'), await seen?.text()]).toEqual([
      'https://agent.example/rpc?x=1&k=a+b',
      'POST',
      's=x',
      '1.0',
      'hello',
    ]);
  });
});
