import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

/** A real OpenID Connect provider on loopback, for clients with their own credentials. */
export interface OidcProvider {
  readonly url: string;
  /** A token for one of the clients `planner` (of acme) and `crawler` (of no tenant). */
  token(client: 'planner' | 'crawler', options?: { readonly scope?: string; readonly resource?: string }): Promise<string>;
  /** Rotates the signing key, and publishes both keys. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

const SECRET = 'a-secret-of-a-client-in-a-test';
const SCOPES = 'tasks:read tasks:write tasks:cancel';

export async function startOidc(audience: string): Promise<OidcProvider> {
  const keys = [await signingKey('first')];
  let provider: Provider | undefined;
  const server = createServer((incoming, outgoing) => void provider?.callback()(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const start = (): Provider => quietly(() => new Provider(url, configuration(keys, audience)));
  provider = start();
  return {
    url,
    token: async (client, { scope = SCOPES, resource = audience } = {}) => {
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
      });
      const body = (await response.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(JSON.stringify(body));
      return body.access_token;
    },
    rotate: async () => {
      keys.unshift(await signingKey('second'));
      provider = start();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Configuration = NonNullable<ConstructorParameters<typeof Provider>[1]>;
type SigningKey = NonNullable<Configuration['jwks']>['keys'][number];

async function signingKey(kid: string): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' } as SigningKey;
}

function configuration(keys: readonly SigningKey[], audience: string): Configuration {
  return {
    jwks: { keys: [...keys] },
    clients: ['planner', 'crawler'].map((client_id) => ({
      client_id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    extraTokenClaims: (_, token) => (token.clientId === 'planner' ? { tenant: 'acme' } : {}),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // RFC 8707: the requested resource becomes the token's audience.
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES,
          audience: resource || audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
}

/** Hides the provider's warning that it is not configured for production. */
function quietly<T>(make: () => T): T {
  const { info, warn } = console;
  [console.info, console.warn] = [() => {}, () => {}];
  try {
    return make();
  } finally {
    [console.info, console.warn] = [info, warn];
  }
}
