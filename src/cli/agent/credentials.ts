import type { Connection } from '#client';
import type { Credentials } from '#client/strict';
import { type CredentialKind, chooseCredentials, credentialKind, type PlacedCredential } from '#client/strict';
import type { AgentCard, Fetch } from '#protocol';
import { CliError } from '../command.ts';
import { asksForBearer, localToken } from '../local-token.ts';
import type { RunContext } from '../run-context.ts';
import { openLoginStore } from '../settings/tokens.ts';

interface CredentialsFor {
  /** Undefined with `--endpoint`. */
  readonly card: AgentCard | undefined;
  readonly url: Connection['url'];
  /** The token of parley.config for this agent. */
  readonly configured: string | undefined;
  /** Asks authorization servers. */
  readonly fetch: Fetch;
}

/** The credentials that flags and environment give, and a bearer token from parley.config, from `auth login`, or of this machine. */
export async function givenCredentials(run: RunContext, { card, url, configured, fetch }: CredentialsFor): Promise<Credentials> {
  const { settings, secrets } = run;
  const takesBearer = card === undefined || Object.values(card.securitySchemes ?? {}).some((scheme) => credentialKind(scheme) === 'bearer');
  const bearer =
    settings.text('bearer') ??
    configured ??
    (takesBearer ? await loggedInToken(run, url, fetch) : undefined) ??
    tokenOfThisMachine(run, card, url);
  secrets.add(bearer);
  return { bearer, apiKey: settings.text('api-key'), basic: settings.text('basic'), mtls: settings.text('cert') !== undefined };
}

/** Only for an agent that asks for a token: another agent on this machine must not see it. With `--endpoint` there is no card to check. */
function tokenOfThisMachine({ settings }: RunContext, card: AgentCard | undefined, url: string): string | undefined {
  const hasOther = settings.text('api-key') !== undefined || settings.text('basic') !== undefined;
  return hasOther || (card !== undefined && !asksForBearer(card)) ? undefined : localToken(url);
}

/** The token that `parley auth login` got for this origin, renewed if it has expired. */
export async function loggedInToken({ secrets, signal }: RunContext, url: string, fetch: Fetch): Promise<string | undefined> {
  const store = openLoginStore();
  const { origin } = new URL(/^https?:/.test(url) ? url : `http://${url}`);
  const login = store.find(origin) ?? (/^https?:/.test(url) ? undefined : store.find(origin.replace('http:', 'https:')));
  if (login === undefined) return undefined;
  for (const secret of [login.tokens?.accessToken, login.tokens?.refreshToken, login.clientSecret]) secrets.add(secret);
  const { accessToken } = await import('../auth/tokens.ts');
  return await accessToken(login, { store, fetch, signal });
}

const NAMES: Readonly<Record<CredentialKind, string>> = {
  bearer: 'the bearer token',
  apiKey: 'the API key',
  basic: 'the user and password',
  mtls: 'the client certificate',
  other: 'the credential',
};

/** Chooses what goes to this agent, and warns about what its card takes nowhere. Throws if the card needs more. */
export function placeCredentials(card: CredentialCard, have: Credentials, warn: (text: string) => void): readonly PlacedCredential[] {
  const choice = chooseCredentials(card, have);
  if (!choice.ok) throw missing(card, choice.wanted);
  const isCertificateUnused = have.mtls === true && !choice.placed.some(({ at }) => at === 'connection');
  for (const kind of [...choice.unused, ...(isCertificateUnused ? (['mtls'] as const) : [])])
    warn(`warning: ${NAMES[kind]} is not sent: no scheme of the card takes it\n`);
  return choice.placed;
}

type CredentialCard = Pick<AgentCard, 'name' | 'securitySchemes' | 'securityRequirements'>;

/** With `--endpoint` no card says where a credential goes: the usual headers are used. */
export const ENDPOINT_CREDENTIALS: CredentialCard = {
  name: 'the agent',
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
    basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    mtls: { mtlsSecurityScheme: {} },
  },
};

const FLAGS: Readonly<Record<CredentialKind, string>> = {
  bearer: 'A2ACLI_BEARER (or --bearer), or parley auth login',
  apiKey: 'A2ACLI_API_KEY (or --api-key)',
  basic: 'A2ACLI_BASIC (or --basic)',
  mtls: '--cert and --cert-key',
  other: 'a scheme that parley does not support',
};

/**
 * The error for a card whose requirements the given credentials do not meet. Names the flag for each
 * scheme.
 */
function missing({ name, securitySchemes = {} }: CredentialCard, wanted: readonly (readonly string[])[]): CliError {
  const alternatives = wanted.map((schemes) =>
    schemes.map((one) => {
      const scheme = securitySchemes[one];
      return `${one}: ${scheme === undefined ? 'a scheme that the card does not describe' : FLAGS[credentialKind(scheme)]}`;
    }),
  );
  return new CliError(`${name} demands credentials, and none that fit were given`, {
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: `set ${alternatives.map((schemes) => schemes.join(' and ')).join('; or ')}`,
    exit: 4,
  });
}
