import type {
  ApiKeySecurityScheme,
  AuthorizationCodeFlow,
  ClientCredentialsFlow,
  DeviceCodeFlow,
  HttpAuthSecurityScheme,
  ImplicitFlow,
  MutualTlsSecurityScheme,
  OAuth2SecurityScheme,
  OAuthFlows,
  OpenIdConnectSecurityScheme,
  PasswordFlow,
  SecurityRequirement,
  SecurityScheme,
} from '../../card.ts';
import type { Json } from '../../json.ts';
import { jsonOf, unreachable } from '../../json.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from './read.ts';
import { fail, filledText, flagIf, isRaw, member, memberIf, object, text, textIf, texts } from './read.ts';

/**
 * Security schemes have two shapes: 1.0 wraps each in the name of its kind, 0.x has a `type` as in
 * OpenAPI. Every reader accepts both, because hybrid cards mix them.
 */
type Kind = keyof { [K in SecurityScheme as keyof K]: true };
/** 1.0's wrapper name of each 0.x `type`. */
export const KIND_OF_TYPE: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ['apiKey', 'apiKeySecurityScheme'],
  ['http', 'httpAuthSecurityScheme'],
  ['oauth2', 'oauth2SecurityScheme'],
  ['openIdConnect', 'openIdConnectSecurityScheme'],
  ['mutualTLS', 'mtlsSecurityScheme'],
]);
const SNAKE: Readonly<Record<Kind, string>> = {
  apiKeySecurityScheme: 'api_key_security_scheme',
  httpAuthSecurityScheme: 'http_auth_security_scheme',
  oauth2SecurityScheme: 'oauth2_security_scheme',
  openIdConnectSecurityScheme: 'open_id_connect_security_scheme',
  mtlsSecurityScheme: 'mtls_security_scheme',
};

/** The OAuth flows, in the order in which a scheme with several is divided. */
export const FLOWS = ['authorizationCode', 'clientCredentials', 'deviceCode', 'implicit', 'password'] as const;

/**
 * A 0.x scheme with several flows becomes several schemes, because a 1.0 scheme has one flow. A scheme
 * of an unknown kind is left out. A requirement that names it stays, and no client will claim to meet
 * it.
 */
export function readSchemes(raw: unknown, env: ReadEnv): { [name: string]: SecurityScheme } {
  const out: { [name: string]: SecurityScheme } = Object.create(null);
  for (const [name, value] of namedEntries(raw)) {
    for (const [suffix, scheme] of member(value, name, readScheme, env)) out[`${name}${suffix}`] = scheme;
  }
  return out;
}

/**
 * Names that come from outside. A key `__proto__` could set a prototype when the map is copied
 * carelessly.
 */
function namedEntries(raw: unknown): [string, unknown][] {
  const named = object(raw);
  if (Object.hasOwn(named, '__proto__')) fail('', 'must not have the key __proto__');
  return Object.entries(named);
}

/**
 * Reads a scheme in any of its published forms. OAuth with several flows becomes several schemes,
 * because 1.0 allows one flow each.
 */
function readScheme(raw: unknown, env: ReadEnv): readonly (readonly [suffix: string, scheme: SecurityScheme])[] {
  const s = unwrapped(object(raw), 'scheme');
  const kind = kindOf(s);
  if (kind === undefined) return [];
  const body = memberIf(s[kind] ?? s[SNAKE[kind]], kind, object, env) ?? s;
  if (kind !== 'oauth2SecurityScheme') return [['', readSimple(kind, body)]];
  const flows = readFlows(body.flows, env);
  const url = textIf(body.oauth2MetadataUrl ?? body.oauth2_metadata_url, 'oauth2MetadataUrl');
  return flows.map(([name, flow]) => {
    const scheme: OAuth2SecurityScheme = { ...described(body), flows: flow, ...(url ? { oauth2MetadataUrl: url } : {}) };
    return [flows.length === 1 ? '' : `.${name}`, { oauth2SecurityScheme: scheme }];
  });
}

/**
 * @a2a-js/sdk 1.3.0 serves its public card in its in-memory form, where a union is `{<name>: {$case,
 * value}}`.
 */
function unwrapped(raw: Raw, name: string): Raw {
  const union = raw[name];
  return isRaw(union) && typeof union.$case === 'string' ? { [union.$case]: union.value } : raw;
}

/**
 * The wrapped kind if there is one, otherwise the one of `type`. On a hybrid card a signature covers
 * 1.0's member.
 */
function kindOf(s: Raw): Kind | undefined {
  const wrapped = wrappedKinds(s);
  if (wrapped.length > 1) return fail('', `must have exactly one of ${wrapped.join(', ')}`);
  return wrapped[0] ?? KIND_OF_TYPE.get(textIf(s.type, 'type'));
}

/** The kinds of 1.0 under which a scheme is wrapped; more than one is an error. */
export function wrappedKinds(s: Raw): readonly Kind[] {
  return [...KIND_OF_TYPE.values()].filter((kind) => (s[kind] ?? s[SNAKE[kind]] ?? null) !== null);
}

function readSimple(kind: Exclude<Kind, 'oauth2SecurityScheme'>, s: Raw): SecurityScheme {
  switch (kind) {
    case 'apiKeySecurityScheme': {
      const scheme: ApiKeySecurityScheme = {
        ...described(s),
        // Like the SDKs, reads an unknown location as a header. `in_` is written by a2a-sdk 0.2.5 for Python.
        location: LOCATIONS.get(text(s.location ?? s.in ?? s.in_, 'location')) ?? 'header',
        name: filledText(s.name, 'name'),
      };
      return { apiKeySecurityScheme: scheme };
    }
    case 'httpAuthSecurityScheme': {
      const bearerFormat = textIf(s.bearerFormat ?? s.bearer_format, 'bearerFormat');
      const scheme: HttpAuthSecurityScheme = {
        ...described(s),
        scheme: filledText(s.scheme, 'scheme'),
        ...(bearerFormat ? { bearerFormat } : {}),
      };
      return { httpAuthSecurityScheme: scheme };
    }
    case 'openIdConnectSecurityScheme': {
      const url = filledText(s.openIdConnectUrl ?? s.open_id_connect_url, 'openIdConnectUrl');
      const scheme: OpenIdConnectSecurityScheme = { ...described(s), openIdConnectUrl: url };
      return { openIdConnectSecurityScheme: scheme };
    }
    case 'mtlsSecurityScheme': {
      const scheme: MutualTlsSecurityScheme = described(s);
      return { mtlsSecurityScheme: scheme };
    }
    default:
      return unreachable(kind);
  }
}

const LOCATIONS: ReadonlyMap<string, ApiKeySecurityScheme['location']> = new Map([
  ['query', 'query'],
  ['header', 'header'],
  ['cookie', 'cookie'],
]);

/** The OAuth flows of a scheme, each with its name. */
function readFlows(raw: unknown, env: ReadEnv): readonly (readonly [string, OAuthFlows])[] {
  const f = unwrapped(member(raw, 'flows', object, env), 'flow');
  const out: (readonly [string, OAuthFlows])[] = [];
  const add = (name: string, value: unknown, read: (flow: Raw) => OAuthFlows) => {
    const flow = memberIf(value, `flows.${name}`, (inner) => read(object(inner)), env);
    if (flow !== undefined) out.push([name, flow]);
  };
  add('authorizationCode', f.authorizationCode ?? f.authorization_code, (flow) => {
    const pkce = flagIf(flow.pkceRequired ?? flow.pkce_required, 'pkceRequired');
    const code: AuthorizationCodeFlow = { authorizationUrl: authorizationUrl(flow), tokenUrl: tokenUrl(flow), ...scoped(flow, env) };
    return { authorizationCode: pkce ? { ...code, pkceRequired: true } : code };
  });
  add('clientCredentials', f.clientCredentials ?? f.client_credentials, (flow) => {
    const credentials: ClientCredentialsFlow = { tokenUrl: tokenUrl(flow), ...scoped(flow, env) };
    return { clientCredentials: credentials };
  });
  add('deviceCode', f.deviceCode ?? f.device_code, (flow) => {
    const url = text(flow.deviceAuthorizationUrl ?? flow.device_authorization_url, 'deviceAuthorizationUrl');
    const device: DeviceCodeFlow = { deviceAuthorizationUrl: url, tokenUrl: tokenUrl(flow), ...scoped(flow, env) };
    return { deviceCode: device };
  });
  add('implicit', f.implicit, (flow) => {
    const implicit: ImplicitFlow = { authorizationUrl: authorizationUrl(flow), ...scoped(flow, env) };
    return { implicit };
  });
  add('password', f.password, (flow) => {
    const password: PasswordFlow = { tokenUrl: tokenUrl(flow), ...scoped(flow, env) };
    return { password };
  });
  return out;
}

function authorizationUrl(flow: Raw): string {
  return text(flow.authorizationUrl ?? flow.authorization_url, 'authorizationUrl');
}

function tokenUrl(flow: Raw): string {
  return text(flow.tokenUrl ?? flow.token_url, 'tokenUrl');
}

function scoped(flow: Raw, env: ReadEnv): { scopes: { [scope: string]: string }; refreshUrl?: string } {
  const scopes: { [scope: string]: string } = Object.create(null);
  for (const [scope, about] of memberIf(flow.scopes, 'scopes', namedEntries, env) ?? []) scopes[scope] = text(about, `scopes.${scope}`);
  const refreshUrl = textIf(flow.refreshUrl ?? flow.refresh_url, 'refreshUrl');
  return refreshUrl ? { scopes, refreshUrl } : { scopes };
}

function described(s: Raw): { description?: string } {
  const description = textIf(s.description, 'description');
  return description ? { description } : {};
}

/**
 * Accepts `{schemes:{name:{list:[…]}}}` of 1.0, `{schemes:{name:[…]}}` as a2a-go 2.3 writes it, and
 * `{name:[…]}` of 0.x.
 */
export function readRequirement(raw: unknown, env: ReadEnv): SecurityRequirement {
  const r = object(raw);
  const schemes: { [name: string]: { list?: readonly string[] } } = Object.create(null);
  for (const [name, value] of namedEntries(isRaw(r.schemes) ? r.schemes : r)) {
    const scopes = texts(Array.isArray(value) ? value : (member(value, name, object, env).list ?? []), name);
    schemes[name] = scopes.length === 0 ? {} : { list: scopes };
  }
  return { schemes };
}

/**
 * The 0.x form of a scheme. Members that 0.x lacks (`pkceRequired`, `deviceCode`) are kept, because no
 * 0.x schema forbids them.
 */
export function writeFlatScheme(scheme: SecurityScheme): Json {
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', in: location, ...rest };
  }
  if (scheme.httpAuthSecurityScheme !== undefined) return { type: 'http', ...scheme.httpAuthSecurityScheme };
  if (scheme.oauth2SecurityScheme !== undefined) return jsonOf({ type: 'oauth2', ...scheme.oauth2SecurityScheme });
  if (scheme.openIdConnectSecurityScheme !== undefined) return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  if (scheme.mtlsSecurityScheme !== undefined) return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
  return unreachable(scheme);
}

/** The 0.x form of a requirement: `{name: [scopes]}`. */
export function writeFlatRequirement(requirement: SecurityRequirement): Json {
  return Object.fromEntries(Object.entries(requirement.schemes).map(([name, scopes]) => [name, scopes.list ?? []]));
}
