import type { AgentCard, Fetch, SecurityScheme } from '#protocol';
import { kept, unreachable } from '#protocol';
import { CliError } from '../command.ts';

/** What the caller has to show, by kind. */
export interface Credentials {
  readonly bearer?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly basic?: string | undefined;
  readonly mtls?: boolean;
}

type Kind = 'bearer' | 'apiKey' | 'basic' | 'mtls' | 'other';

/** Where one credential goes. */
export type Attachment =
  | { readonly at: 'header' | 'cookie' | 'query'; readonly name: string; readonly value: string }
  | { readonly at: 'connection' };

export interface Choice {
  readonly attachments: readonly Attachment[];
  /** Given, and taken by no scheme of the card: they are not sent (A2ACLI_AUTH_008). */
  readonly unused: readonly string[];
}

/** Which kind of credential a scheme takes. */
function kindOf(scheme: SecurityScheme): Kind {
  if (scheme.apiKeySecurityScheme !== undefined) return 'apiKey';
  if (scheme.oauth2SecurityScheme !== undefined || scheme.openIdConnectSecurityScheme !== undefined) return 'bearer';
  if (scheme.mtlsSecurityScheme !== undefined) return 'mtls';
  if (scheme.httpAuthSecurityScheme !== undefined) {
    const name = scheme.httpAuthSecurityScheme.scheme.toLowerCase();
    return name === 'bearer' || name === 'basic' ? name : 'other';
  }
  return unreachable(scheme);
}

function attachmentFor(scheme: SecurityScheme, have: Credentials): Attachment | undefined {
  switch (kindOf(scheme)) {
    case 'bearer':
      return have.bearer === undefined ? undefined : { at: 'header', name: 'Authorization', value: `Bearer ${have.bearer}` };
    case 'basic':
      return have.basic === undefined
        ? undefined
        : { at: 'header', name: 'Authorization', value: `Basic ${Buffer.from(have.basic).toString('base64')}` };
    case 'apiKey': {
      const { location, name } = scheme.apiKeySecurityScheme ?? { location: 'header', name: 'X-API-Key' };
      return have.apiKey === undefined ? undefined : { at: location, name, value: have.apiKey };
    }
    case 'mtls':
      return have.mtls === true ? { at: 'connection' } : undefined;
    case 'other':
      return undefined;
  }
}

/** Of the card's requirements the first that can be met whole; without requirements, whatever scheme takes what was given. */
export function chooseCredentials(card: AgentCard, have: Credentials): Choice {
  const schemes = card.securitySchemes ?? {};
  const requirements = card.securityRequirements ?? [];
  for (const { schemes: wanted } of requirements) {
    const names = Object.keys(wanted);
    const met = names.map((name) => (schemes[name] === undefined ? undefined : attachmentFor(schemes[name], have)));
    if (names.length > 0 && met.every((one) => one !== undefined)) return { attachments: met, unused: unusedOf(have, met) };
  }
  const open = requirements.length === 0 || requirements.some(({ schemes: wanted }) => Object.keys(wanted).length === 0);
  if (!open) throw missing(card);
  const some = Object.values(schemes)
    .map((scheme) => attachmentFor(scheme, have))
    .filter((one) => one !== undefined);
  const first = some.filter((one, at) => some.findIndex((other) => placeOf(other) === placeOf(one)) === at);
  return { attachments: first, unused: unusedOf(have, first) };
}

function placeOf(attachment: Attachment): string {
  return attachment.at === 'connection' ? 'connection' : `${attachment.at} ${attachment.name}`;
}

function unusedOf({ bearer, apiKey, basic }: Credentials, sent: readonly Attachment[]): readonly string[] {
  const uses = (secret: string): boolean => sent.some((one) => one.at !== 'connection' && one.value.includes(secret));
  const isUnused = (secret: string | undefined): secret is string => secret !== undefined && !uses(secret);
  return [
    ...(isUnused(bearer) ? ['the bearer token'] : []),
    ...(isUnused(apiKey) ? ['the API key'] : []),
    ...(basic !== undefined && !uses(Buffer.from(basic).toString('base64')) ? ['the user and password'] : []),
  ];
}

const FLAG_OF: Readonly<Record<Kind, string>> = {
  bearer: 'A2ACLI_BEARER (or --bearer), or parley auth login',
  apiKey: 'A2ACLI_API_KEY (or --api-key)',
  basic: 'A2ACLI_BASIC (or --basic)',
  mtls: '--cert and --cert-key',
  other: 'a scheme that parley does not speak',
};

function missing(card: AgentCard): CliError {
  const ways = (card.securityRequirements ?? []).map(({ schemes }) =>
    Object.keys(schemes).map((name) => {
      const scheme = card.securitySchemes?.[name];
      return `${name}: ${scheme === undefined ? 'a scheme that the card does not describe' : FLAG_OF[kindOf(scheme)]}`;
    }),
  );
  return new CliError(`${card.name} demands credentials, and none that fit were given`, {
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: `set ${ways.map((way) => way.join(' and ')).join('; or ')}`,
    exit: 4,
  });
}

export function attach(next: Fetch, attachments: readonly Attachment[]): Fetch {
  if (attachments.every(({ at }) => at === 'connection')) return next;
  return async (request) => {
    const url = new URL(request.url);
    const headers = new Headers(request.headers);
    for (const one of attachments) {
      if (one.at === 'header') headers.set(one.name, one.value);
      if (one.at === 'query') url.searchParams.set(one.name, one.value);
      if (one.at === 'cookie') headers.append('Cookie', `${one.name}=${encodeURIComponent(one.value)}`);
    }
    const { method, body, signal, redirect } = request;
    const init = { method, headers, signal, redirect };
    return await next(kept(new Request(url, body === null ? init : { ...init, body: await request.text() })));
  };
}
