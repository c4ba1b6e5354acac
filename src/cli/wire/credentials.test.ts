import { describe, expect, it } from 'vitest';
import type { AgentCard, SecurityScheme } from '#protocol';
import { CARD } from '../../../test/support/card.ts';
import { attach, chooseCredentials } from './credentials.ts';

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

describe('chooseCredentials', () => {
  it('meets the first requirement that can be met whole', () => {
    const card = cardWith(['bearer', 'key'], ['oidc']);
    expect(chooseCredentials(card, { bearer: 'tok' }).attachments).toEqual([{ at: 'header', name: 'Authorization', value: 'Bearer tok' }]);
    expect(chooseCredentials(card, { bearer: 'tok', apiKey: 'k1' }).attachments).toHaveLength(2);
  });

  it('demands what is demanded', () => {
    expect(() => chooseCredentials(cardWith(['key'], ['digest']), { bearer: 'tok' })).toThrow('demands credentials');
    expect(() => chooseCredentials(cardWith(['unknown']), { bearer: 'tok' })).toThrow('demands credentials');
  });

  it('is content with nothing where that suffices', () => {
    expect(chooseCredentials(cardWith(['key'], []), {})).toEqual({ attachments: [], unused: [] });
    expect(chooseCredentials(CARD, {})).toEqual({ attachments: [], unused: [] });
  });

  it('says what no scheme takes', () => {
    expect(chooseCredentials(CARD, { bearer: 'tok', apiKey: 'k', basic: 'u:p' }).unused).toEqual([
      'the bearer token',
      'the API key',
      'the user and password',
    ]);
    expect(chooseCredentials(cardWith(['basic']), { basic: 'u:p' })).toEqual({
      attachments: [{ at: 'header', name: 'Authorization', value: 'Basic dTpw' }],
      unused: [],
    });
  });

  it('takes a certificate for mutual TLS', () => {
    expect(chooseCredentials(cardWith(['mtls']), { mtls: true }).attachments).toEqual([{ at: 'connection' }]);
  });
});

describe('attach', () => {
  it('puts each where it belongs and keeps the rest', async () => {
    let seen: Request | undefined;
    const fetch = attach(
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
