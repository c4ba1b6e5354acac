import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A real OAuth 2 server: the certified `oidc-provider`, with one client of each kind and a user who agrees. */
export interface Oidc {
  readonly issuer: string;
  /** Answers as `/a2a` of a protected agent would, depending on the token. */
  isGood(authorization: string | undefined): Promise<boolean>;
  revokeAll(): void;
  close(): Promise<void>;
}

export const CLIENT = { clientId: 'parley', clientSecret: 'a-secret-of-some-length' };
export const REDIRECT = 'http://127.0.0.1:1/back';

export async function startOidc(accessSeconds = 3600, redirects: readonly string[] = []): Promise<Oidc> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const revoked = new Set<string>();
  const given = new Set<string>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        grant_types: ['client_credentials', 'authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        redirect_uris: [REDIRECT, ...redirects],
        application_type: 'native',
      },
    ],
    scopes: ['agents', 'offline_access', 'openid'],
    features: { clientCredentials: { enabled: true }, deviceFlow: { enabled: true }, devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/agree/${interaction.uid}` },
    issueRefreshToken: async () => true,
    ttl: {
      AccessToken: accessSeconds,
      ClientCredentials: accessSeconds,
      DeviceCode: 600,
      Grant: 3600,
      Session: 3600,
      RefreshToken: 3600,
      Interaction: 3600,
    },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    cookies: { keys: ['test'] },
    jwks: undefined as never,
  });
  const handle = provider.callback();
  server.on('request', (incoming, outgoing) => {
    if (!incoming.url?.startsWith('/agree/')) return void handle(incoming, outgoing);
    void agree(provider, incoming, outgoing);
  });
  const isGood = async (authorization: string | undefined): Promise<boolean> => {
    const token = authorization?.replace(/^Bearer /, '') ?? '';
    given.add(token);
    if (revoked.has(token)) return false;
    return ((await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token))) !== undefined;
  };
  return {
    issuer,
    isGood,
    revokeAll: () => {
      for (const token of given) revoked.add(token);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The user logs in and agrees to every request. */
async function agree(
  provider: Provider,
  incoming: Parameters<Provider['interactionDetails']>[0],
  outgoing: Parameters<Provider['interactionDetails']>[1],
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(incoming, outgoing);
  if (prompt.name === 'login') return await provider.interactionFinished(incoming, outgoing, { login: { accountId: 'ann' } });
  const grant =
    grantId === undefined
      ? new provider.Grant({ accountId: session?.accountId ?? 'ann', clientId: String(params['client_id']) })
      : await provider.Grant.find(grantId);
  grant?.addOIDCScope(String(params['scope'] ?? ''));
  await provider.interactionFinished(
    incoming,
    outgoing,
    { consent: { grantId: (await grant?.save()) ?? '' } },
    { mergeWithLastSubmission: true },
  );
}

/** A minimal browser for the login: cookies, redirects, and forms with one button. */
export async function browse(start: URL | string, until: string, fields: Readonly<Record<string, string>> = {}): Promise<URL> {
  const jar = new Map<string, string>();
  let at = new URL(start);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, {
      redirect: 'manual',
      headers: { cookie, Accept: 'text/html' },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    form = undefined;
    const location = response.headers.get('location');
    if (location !== null) {
      at = new URL(location, at);
      if (at.href.startsWith(until)) return at;
      continue;
    }
    const page = await response.text();
    if (page.includes(until)) return at;
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`the browser is stuck at ${at.href}: ${response.status} ${page.slice(0, 300)}`);
    form = new URLSearchParams(fields);
    for (const [, name = '', value = ''] of page.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g))
      form.set(name, value);
    at = new URL(action.replaceAll('&amp;', '&'), at);
  }
  throw new Error('the browser goes in circles');
}
