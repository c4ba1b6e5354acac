import type { OAuthFlows, SecurityRequirement, SecurityScheme } from '../../card.ts';
import type { Json } from '../../json.ts';
import { jsonOf, unreachable } from '../../json.ts';
import type { Loss } from '../dialect.ts';
import type { Raw } from './read.ts';
import { isRaw, object, textIf, texts } from './read.ts';

/**
 * `authentication{schemes, credentials}`, as on the cards of 0.1 and Society: names of schemes, any of
 * which is accepted, and one text that describes them. Where a scheme needs more than its name, the
 * text is JSON (docs/dialects/v01.md, "Card").
 */
export interface Security {
  readonly schemes: { readonly [name: string]: SecurityScheme };
  readonly requirements: readonly SecurityRequirement[];
}

/** Reads `authentication` of a card. Undefined if it lists no scheme. */
export function readAuthentication(raw: unknown): Security | undefined {
  const a = object(raw);
  const names = texts(a.schemes ?? [], 'schemes').filter((name) => name !== '');
  if (names.length === 0) return undefined;
  const credentials = textIf(a.credentials, 'credentials') ?? '';
  const known = jsonObject(credentials);
  const description = known === undefined && credentials !== '' ? { description: credentials } : {};
  const schemes: { [name: string]: SecurityScheme } = Object.create(null);
  for (const name of names) schemes[name] = readScheme(name, known ?? {}, description);
  return { schemes, requirements: Object.keys(schemes).map((name) => ({ schemes: { [name]: {} } })) };
}

/**
 * A security scheme from its plain name, for example `Bearer` or `apiKey`. Details come from
 * `credentials`.
 */
function readScheme(name: string, known: Raw, described: { readonly description?: string }): SecurityScheme {
  switch (name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')) {
    case 'apikey': {
      const location = known.in === 'query' || known.in === 'cookie' ? known.in : 'header';
      return { apiKeySecurityScheme: { ...described, location, name: filledTextIf(known.name) ?? 'X-API-Key' } };
    }
    case 'oauth2': {
      const flows = readFlows(known);
      // Without the flow, the caller still has to send a token.
      return flows === undefined
        ? { httpAuthSecurityScheme: { ...described, scheme: 'Bearer' } }
        : { oauth2SecurityScheme: { ...described, flows } };
    }
    case 'openidconnect': {
      const openIdConnectUrl = filledTextIf(known.openIdConnectUrl);
      return openIdConnectUrl === undefined
        ? { httpAuthSecurityScheme: { ...described, scheme: 'Bearer' } }
        : { openIdConnectSecurityScheme: { ...described, openIdConnectUrl } };
    }
    case 'mutualtls':
      return { mtlsSecurityScheme: described };
    default:
      return { httpAuthSecurityScheme: { ...described, scheme: name } };
  }
}

function readFlows(known: Raw): OAuthFlows | undefined {
  const [authorizationUrl, tokenUrl] = [filledTextIf(known.authorizationUrl), filledTextIf(known.tokenUrl)];
  const refreshUrl = filledTextIf(known.refreshUrl);
  const scopes: { [scope: string]: string } = Object.create(null);
  for (const [scope, about] of Object.entries(isRaw(known.scopes) ? known.scopes : {})) scopes[scope] = filledTextIf(about) ?? '';
  const scoped = refreshUrl === undefined ? { scopes } : { scopes, refreshUrl };
  if (authorizationUrl !== undefined) {
    return tokenUrl === undefined
      ? { implicit: { authorizationUrl, ...scoped } }
      : { authorizationCode: { authorizationUrl, tokenUrl, ...scoped } };
  }
  return tokenUrl === undefined ? undefined : { clientCredentials: { tokenUrl, ...scoped } };
}

function filledTextIf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function jsonObject(text: string): Raw | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRaw(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Every scheme that the card declares, because the form can't tell required schemes from optional ones.
 */
export function writeAuthentication(schemes: { readonly [name: string]: SecurityScheme }): Json {
  const names = new Set<string>();
  const known: { [member: string]: Json } = {};
  const descriptions: string[] = [];
  for (const scheme of Object.values(schemes)) {
    const { name, details, description } = writeScheme(scheme);
    names.add(name);
    Object.assign(known, details);
    if (description !== undefined) descriptions.push(description);
  }
  const credentials = Object.keys(known).length > 0 ? JSON.stringify(known) : descriptions[0];
  return credentials === undefined ? { schemes: [...names] } : { schemes: [...names], credentials };
}

interface WrittenScheme {
  readonly name: string;
  readonly details?: { readonly [member: string]: Json };
  readonly description?: string | undefined;
}

/** The plain name of a scheme, and the details that become JSON in `credentials`. */
function writeScheme(scheme: SecurityScheme): WrittenScheme {
  if (scheme.httpAuthSecurityScheme !== undefined) {
    return { name: scheme.httpAuthSecurityScheme.scheme, description: scheme.httpAuthSecurityScheme.description };
  }
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { location, name, description } = scheme.apiKeySecurityScheme;
    return { name: 'ApiKey', details: { in: location, name }, description };
  }
  if (scheme.oauth2SecurityScheme !== undefined) {
    const { flows } = scheme.oauth2SecurityScheme;
    return { name: 'OAuth2', details: { ...jsonOf(Object.values(flows)[0] ?? {}) } };
  }
  if (scheme.openIdConnectSecurityScheme !== undefined) {
    return { name: 'OpenIdConnect', details: { openIdConnectUrl: scheme.openIdConnectSecurityScheme.openIdConnectUrl } };
  }
  if (scheme.mtlsSecurityScheme !== undefined) return { name: 'MutualTLS', description: scheme.mtlsSecurityScheme.description };
  return unreachable(scheme);
}

/** What the form can't express about security, for a dialect whose cards use it. */
export function authenticationLosses(clause: string): readonly Loss[] {
  const members = ['apiKey', 'httpAuth', 'oauth2', 'openIdConnect', 'mtls'];
  return [
    ...members.map((kind) => ({
      field: `SecurityScheme.${kind}SecurityScheme`,
      reason: 'a scheme is identified by its kind, not by a name',
      clause,
    })),
    { field: 'AgentCard.securityRequirements', reason: 'any one scheme is enough; there are no scopes and no combinations', clause },
    { field: 'AgentCard.securityRequirements', absent: true, reason: 'a scheme that is listed is required', clause },
  ];
}
