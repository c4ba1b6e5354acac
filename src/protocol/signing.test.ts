import { describe, expect, it } from 'vitest';
import type { AgentCard } from './card.ts';
import type { JsonObject } from './json.ts';
import type { CardSigner, CardVerifier, SignedPayload } from './signing.ts';
import { signCard, verifyCard } from './signing.ts';
import { signingPayload } from './signing-forms.ts';

const CARD: AgentCard = {
  name: 'A',
  description: '',
  version: '1',
  supportedInterfaces: [{ url: 'https://a.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
/** The other form, and the card itself. */
const SAME = 'same';
const SELF = 'self';
const REQUIREMENT = '{"securityRequirements":[{"schemes":{"k":{}}}]}';
const HEADER = { alg: 'ES256', kid: 'k1', typ: 'JOSE' };

describe('the signed bytes', () => {
  it('are those of the example in A2A 1.0.1 §8.4.1', () => {
    const fragment = {
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    };
    expect(payload(fragment)).toBe(
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    );
    expect(payload(fragment, 'sdk')).toBe('{"capabilities":{"pushNotifications":false,"streaming":false},"name":"Example Agent"}');
  });

  it.each<[string, JsonObject, spec: string, sdk: string]>([
    ['a required member that is empty', { version: '' }, '{"version":""}', '{}'],
    ['an optional member set to its default', { documentationUrl: '' }, '{"documentationUrl":""}', '{}'],
    ['a plain member at its default', { provider: { url: '', organization: '', x: 1 } }, '{"provider":{"organization":"","url":""}}', '{}'],
    ['null, which is absent', { name: null, capabilities: { streaming: null } }, '{"capabilities":{}}', '{}'],
    ['a plain flag that is false', ext({ uri: 'u', required: false }), '{"capabilities":{"extensions":[{"uri":"u"}]}}', SAME],
    [
      'free-form params, whole',
      ext({ uri: 'u', params: { a: '', b: [null, 0, false, {}] } }),
      '{"capabilities":{"extensions":[{"params":{"a":"","b":[null,0,false,{}]},"uri":"u"}]}}',
      '{"capabilities":{"extensions":[{"params":{"b":[0,false]},"uri":"u"}]}}',
    ],
    ['the member of a oneof, even if empty', { securitySchemes: { m: { mtlsSecurityScheme: {} } } }, SELF, '{}'],
    ['a requirement without scopes', { securityRequirements: [{ schemes: { k: { list: [] } } }] }, REQUIREMENT, '{}'],
    ['no member that 1.0 does not know, at any depth', { url: 'x', skills: [{ id: 's', security: [] }] }, '{"skills":[{"id":"s"}]}', SAME],
    ['ProtoJSON’s other spelling', { icon_url: 'i', default_input_modes: ['t'] }, '{"defaultInputModes":["t"],"iconUrl":"i"}', SAME],
    ['no signatures', { name: 'n', signatures: [{ protected: 'p', signature: 's' }] }, '{"name":"n"}', SAME],
  ])('%s', (_, card, spec, sdk) => {
    const expected = spec === SELF ? JSON.stringify(card) : spec;
    expect(payload(card)).toBe(expected);
    expect(payload(card, 'sdk')).toBe(sdk === SAME ? expected : sdk);
  });

  it('are the same for a scheme written flat, wrapped or both', () => {
    const wrapped = { apiKeySecurityScheme: { location: 'header', name: 'X', description: 'd' } };
    const flat = { type: 'apiKey', in: 'header', name: 'X', description: 'd' };
    const expected = payload({ securitySchemes: { k: wrapped } });
    expect(payload({ securitySchemes: { k: flat } })).toBe(expected);
    expect(payload({ securitySchemes: { k: { ...wrapped, ...flat } } })).toBe(expected);
    expect(payload({ security_schemes: { k: flat } })).toBe(expected);
  });

  it('contain the wrapped scheme where a hybrid card contradicts itself, as our reader does', () => {
    const wrapped = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
    const card = { securitySchemes: { k: { ...wrapped, type: 'apiKey', in: 'query', name: 'stolen' } } };
    expect(payload(card)).toBe(payload({ securitySchemes: { k: wrapped } }));
  });
});

describe('signing', () => {
  it('makes one signature for each form that differs, and keeps the others', async () => {
    const { signer, signed } = recordingSigner();
    const old = { protected: 'p', signature: 's' };
    const card = await signCard({ ...CARD, signatures: [old] }, signer);
    expect(signed.map((made) => made.payload)).toEqual([payload(CARD), payload(CARD, 'sdk')]);
    expect(signed[0]?.header).toEqual(HEADER);
    expect(card.signatures).toEqual([old, { protected: encoded(HEADER), signature: '0' }, { protected: encoded(HEADER), signature: '1' }]);
  });

  it('makes one signature if the forms agree or only one is requested', async () => {
    const full = { ...CARD, description: 'd', capabilities: { streaming: true }, skills: [skill()] };
    for (const [card, options] of [[full, {}] as const, [CARD, { forms: ['spec'] }] as const]) {
      const { signer, signed } = recordingSigner();
      await signCard(card, signer, options);
      expect(signed.map((made) => made.payload)).toEqual([payload(card)]);
    }
  });

  it('puts a jku into the protected header', async () => {
    const { signer, signed } = recordingSigner({ jku: 'https://a.example/jwks' });
    await signCard(CARD, signer);
    expect(signed[0]?.header).toEqual({ ...HEADER, jku: 'https://a.example/jwks' });
  });

  it.each([{ alg: 'none' }, { alg: 'HS256' }, { alg: 'hs512' }, { kid: '' }])('refuses %o', async (header) => {
    const { signer, signed } = recordingSigner(header);
    await expect(signCard(CARD, signer)).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    expect(signed).toEqual([]);
  });

  it('refuses a card without a canonical form', async () => {
    await expect(signCard({ ...CARD, name: '\ud800' }, recordingSigner().signer)).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
  });
});

describe('S10: verifying', () => {
  it.each([undefined, null, 'card', [], {}, { signatures: [] }, { signatures: {} }, { signatures: 'x' }])(
    '%j is unsigned',
    async (card) => {
      expect(await verifyCard(card, never)).toEqual({ ok: false, reason: 'unsigned' });
    },
  );

  it.each<[string, unknown, string]>([
    ['not an object', 7, 'malformed'],
    ['without a signature', { protected: encoded(HEADER) }, 'malformed'],
    ['without a header', { signature: 's' }, 'malformed'],
    ['a header that is not base64url', { protected: 'a=b', signature: 's' }, 'malformed'],
    ['a header that is not UTF-8', { protected: 'gICA', signature: 's' }, 'malformed'],
    ['a header that is not JSON', { protected: encoded('{'), signature: 's' }, 'malformed'],
    ['a header that is a list', { protected: encoded('[]'), signature: 's' }, 'malformed'],
    ['a header without alg', signed({ alg: undefined }), 'malformed'],
    ['a header of 10 kB', signed({ pad: 'x'.repeat(10_000) }), 'malformed'],
    ['something critical', signed({ crit: ['b64'], b64: false }), 'malformed'],
    ['no kid', signed({ kid: undefined }), 'no-kid'],
    ['a kid that is a number', signed({ kid: 1 }), 'no-kid'],
    ['alg none', signed({ alg: 'none' }), 'algorithm-not-allowed'],
    ['alg nOnE', signed({ alg: 'nOnE' }), 'algorithm-not-allowed'],
    ['a shared secret', signed({ alg: 'HS256' }), 'algorithm-not-allowed'],
    ['an algorithm that is not on the list', signed({ alg: 'ES512' }), 'algorithm-not-allowed'],
  ])('%s is refused before any key is looked up', async (_, signature, reason) => {
    const policy = { algorithms: ['ES256', 'none', 'nOnE', 'HS256'] };
    expect(await verifyCard({ ...CARD, signatures: [signature] }, never, policy)).toMatchObject({ ok: false, reason });
  });

  it('tries the form of the specification, then the form of the SDKs', async () => {
    const card = { ...CARD, signatures: [signed()] };
    const good = { ok: true, kid: 'k1', alg: 'ES256', uncovered: [] };
    expect(await verifyCard(card, accepting(payload(CARD)))).toEqual({ ...good, form: 'spec' });
    expect(await verifyCard(card, accepting(payload(CARD, 'sdk')))).toEqual({ ...good, form: 'sdk' });
    const strict = await verifyCard(card, accepting(payload(CARD, 'sdk')), { forms: ['spec'] });
    expect(strict).toEqual({ ok: false, reason: 'mismatch', kid: 'k1' });
  });

  it('prefers the form that covers more, regardless of the order of signatures', async () => {
    const card = { ...CARD, signatures: [signed({ kid: 'sdk' }), signed({ kid: 'spec' })] };
    const verifier: CardVerifier = {
      verify: async ({ header, payload: bytes }) =>
        new TextDecoder().decode(bytes) === payload(CARD, header.kid === 'sdk' ? 'sdk' : 'spec') ? 'valid' : 'invalid',
    };
    expect(await verifyCard(card, verifier)).toMatchObject({ ok: true, kid: 'spec', form: 'spec' });
  });

  it.each<[JsonObject, uncovered: readonly string[]]>([
    [{ description: '', skills: [], capabilities: {}, iconUrl: '' }, []],
    [
      { securityRequirements: [{ schemes: { oauth: { list: ['a'] }, key: {} } }, {}] },
      ['securityRequirements[0].schemes.key', 'securityRequirements[1]'],
    ],
    [{ securitySchemes: { m: { mtlsSecurityScheme: {} }, n: { mtlsSecurityScheme: { description: 'd' } } } }, ['securitySchemes.m']],
    [oauth({ scopes: { read: 'r', admin: '' }, tokenUrl: '' }), ['securitySchemes.o.oauth2SecurityScheme.flows.password.scopes.admin']],
    [
      { skills: [{ ...skill(), tags: ['t', ''], securityRequirements: [{ schemes: {} }] }] },
      ['skills[0].tags[1]', 'skills[0].securityRequirements[0]'],
    ],
    [
      { securitySchemes: { o: { oauth2SecurityScheme: { description: 'd', flows: { implicit: {} } } } } },
      ['securitySchemes.o.oauth2SecurityScheme.flows.implicit'],
    ],
    [ext({ uri: 'u', params: { a: 1, b: '' } }), ['capabilities.extensions[0].params']],
    [ext({ uri: 'u', params: { a: 1, b: [false, 0] } }), []],
    [ext({ params: { a: null } }), ['capabilities.extensions[0]']],
  ])('says what the form of the SDKs does not cover in %j', async (members, uncovered) => {
    const card = { ...CARD, ...members, signatures: [signed()] };
    expect(await verifyCard(card, accepting(payload(card, 'sdk')), { forms: ['sdk'] })).toMatchObject({ ok: true, form: 'sdk', uncovered });
    expect(await verifyCard(card, accepting(payload(card)))).toMatchObject({ ok: true, form: 'spec', uncovered: [] });
  });

  it('needs one valid signature, and otherwise reports the closest failure', async () => {
    const bad = [signed({ alg: 'none' }), 'x', signed({ kid: 'k2' })];
    expect(await verifyCard({ ...CARD, signatures: [...bad, signed()] }, accepting(payload(CARD), 'k1'))).toMatchObject({ ok: true });
    expect(await verifyCard({ ...CARD, signatures: bad }, accepting('', 'k1'))).toEqual({ ok: false, reason: 'unknown-key', kid: 'k2' });
  });

  it('continues when the keys of one signature can’t be fetched', async () => {
    const cause = new Error('offline');
    const verifier: CardVerifier = {
      verify: async ({ header }) => {
        if (header.kid === 'far') throw cause;
        return 'valid';
      },
    };
    expect(await verifyCard({ ...CARD, signatures: [signed({ kid: 'far' })] }, verifier)).toEqual({
      ok: false,
      reason: 'unavailable',
      kid: 'far',
      cause,
    });
    expect(await verifyCard({ ...CARD, signatures: [signed({ kid: 'far' }), signed()] }, verifier)).toMatchObject({ ok: true, kid: 'k1' });
  });

  it('passes a jku on only if the policy allows it', async () => {
    const seen: SignedPayload['header'][] = [];
    const verifier: CardVerifier = {
      verify: async ({ header }) => {
        seen.push(header);
        return 'valid';
      },
    };
    const card = { ...CARD, signatures: [signed({ jku: 'https://evil.example/jwks' })] };
    await verifyCard(card, verifier);
    await verifyCard(card, verifier, { allowsJku: (url) => url.startsWith('https://a.example/') });
    await verifyCard(card, verifier, { allowsJku: (url) => url === 'https://evil.example/jwks' });
    await verifyCard({ ...CARD, signatures: [signed({ jku: null })] }, verifier, { allowsJku: () => true });
    expect(seen.map((header) => header.jku)).toEqual([undefined, undefined, 'https://evil.example/jwks', undefined]);
  });

  it('checks a limited number of signatures', async () => {
    let looked = 0;
    const verifier: CardVerifier = {
      verify: async () => {
        looked += 1;
        return 'unknown-key';
      },
    };
    await verifyCard({ ...CARD, signatures: Array.from({ length: 10_000 }, () => signed()) }, verifier);
    expect(looked).toBe(2 * 8); // each in both forms
  });

  it('reports a card without a canonical form', async () => {
    let deep: unknown = {};
    for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
    const card = { ...CARD, capabilities: { extensions: [{ uri: 'u', params: deep }] }, signatures: [signed()] };
    expect(await verifyCard(card, never)).toMatchObject({ ok: false, reason: 'not-canonical' });
  });
});

const never: CardVerifier = { verify: () => expect.unreachable('a key was looked up') };

function accepting(expected: string, kid?: string): CardVerifier {
  return {
    verify: async (given) => {
      if (kid !== undefined && given.header.kid !== kid) return 'unknown-key';
      return new TextDecoder().decode(given.payload) === expected ? 'valid' : 'invalid';
    },
  };
}

function recordingSigner(header: object = {}) {
  const signed: { payload: string; header: object }[] = [];
  const signer: CardSigner = {
    header: { alg: 'ES256', kid: 'k1', ...header },
    sign: async (bytes, given) => {
      signed.push({ payload: new TextDecoder().decode(bytes), header: given });
      return { protected: encoded(given), signature: String(signed.length - 1) };
    },
  };
  return { signer, signed };
}

function signed(header: object = {}) {
  return { protected: encoded({ ...HEADER, ...header }), signature: 's' };
}

function encoded(header: object | string): string {
  return Buffer.from(typeof header === 'string' ? header : JSON.stringify(header)).toString('base64url');
}

function payload(card: AgentCard | JsonObject, form?: 'spec' | 'sdk'): string {
  return new TextDecoder().decode(signingPayload(card, form));
}

function skill() {
  return { id: 's', name: 's', description: 's', tags: ['t'] };
}

function oauth(password: JsonObject): JsonObject {
  return { securitySchemes: { o: { oauth2SecurityScheme: { flows: { password } } } } };
}

function ext(extension: JsonObject): JsonObject {
  return { capabilities: { extensions: [extension] } };
}
