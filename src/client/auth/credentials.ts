import type { AgentCard, ApiKeySecurityScheme } from '#protocol';
import { bytesToBase64 } from '#protocol';
import { ClientError } from '../errors/client-error.ts';

/** A secret: its value, the environment variable that holds it, or a function that returns it. */
export type Secret = string | { readonly env: string } | (() => string | Promise<string>);

/** Credentials for an agent. */
export type Auth =
  | { readonly bearer: Secret }
  /** `in` and `name`: by default as the card says, or else the header `X-API-Key`. */
  | { readonly apiKey: Secret; readonly name?: string; readonly in?: 'header' | 'query' | 'cookie' }
  | { readonly basic: { readonly user: string; readonly password: Secret } }
  | Authenticator;

/** The credentials of one request. */
export interface PresentedCredentials {
  /** Headers to add, for example `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Query parameters to add. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Obtains credentials, such as the OAuth flows of `parley-a2a/client/oauth`. */
export interface Authenticator {
  /** Returns the credentials for a request. `card` is undefined while the card itself is fetched. */
  present(card: AgentCard | undefined): PresentedCredentials | Promise<PresentedCredentials>;
  /** Called after a 401. Returns true if there are new credentials and the call should be repeated. */
  refresh?(): Promise<boolean>;
}

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Turns the `auth` option into an `Authenticator`. */
export function authenticatorOf(auth: Auth, env: Env | undefined): Authenticator {
  if ('present' in auth) return auth;
  if ('bearer' in auth) {
    return { present: async () => ({ headers: { Authorization: `Bearer ${await secretValue(auth.bearer, env)}` } }) };
  }
  if ('basic' in auth) {
    const { user, password } = auth.basic;
    return { present: async () => ({ headers: { Authorization: `Basic ${utf8Base64(`${user}:${await secretValue(password, env)}`)}` } }) };
  }
  return {
    present: async (card) => {
      const scheme = apiKeyScheme(card);
      return placed(await secretValue(auth.apiKey, env), auth.name ?? scheme?.name ?? 'X-API-Key', auth.in ?? scheme?.location ?? 'header');
    },
  };
}

/** The API key where the card wants it. */
function placed(key: string, name: string, where: ApiKeySecurityScheme['location']): PresentedCredentials {
  switch (where) {
    case 'header':
      return { headers: { [name]: key } };
    case 'query':
      return { query: { [name]: key } };
    case 'cookie':
      return { headers: { Cookie: `${name}=${encodeURIComponent(key)}` } };
  }
}

function apiKeyScheme(card: AgentCard | undefined): ApiKeySecurityScheme | undefined {
  return Object.values(card?.securitySchemes ?? {}).find((scheme) => scheme.apiKeySecurityScheme !== undefined)?.apiKeySecurityScheme;
}

/** The value of a secret. Error messages never include it. */
export async function secretValue(secret: Secret, env: Env | undefined): Promise<string> {
  const value = typeof secret === 'string' ? secret : typeof secret === 'function' ? await secret() : envOf(env)[secret.env];
  if (value !== undefined && value !== '' && !/[\r\n]/.test(value)) return value;
  if (typeof secret !== 'object') throw new ClientError('credentials-missing', 'the secret is empty or contains a line break');
  throw new ClientError('credentials-missing', `the environment has no ${secret.env}`, {
    hint: `set it: export ${secret.env}=…`,
  });
}

function envOf(env: Env | undefined): Env {
  return env ?? (globalThis as { process?: { env?: Env } }).process?.env ?? {};
}

function utf8Base64(text: string): string {
  return bytesToBase64(new TextEncoder().encode(text));
}
