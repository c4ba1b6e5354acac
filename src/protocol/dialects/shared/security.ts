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
import type { Json, JsonObject } from '../../json.ts';
import { unreachable } from '../../json.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from './read.ts';
import { fail, filledText, isRaw, member, object, oneOf, text, textIf, texts } from './read.ts';

/**
 * Security schemes come in two shapes: 1.0 wraps each in the name of its kind, 0.x tells the kind by `type` (OpenAPI). Both
 * are read everywhere, because hybrid cards mix them.
 */
type Kind = keyof { [K in SecurityScheme as keyof K]: true };
const KIND_OF_TYPE: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
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

/** Several flows in one 0.x scheme become several schemes: 1.0 has one flow a scheme, and none may be lost. */
export function readSchemes(raw: unknown, env: ReadEnv): { [name: string]: SecurityScheme } {
  const out: { [name: string]: SecurityScheme } = Object.create(null);
  for (const [name, value] of Object.entries(object(raw))) {
    for (const [suffix, scheme] of member(value, name, readScheme, env)) out[`${name}${suffix}`] = scheme;
  }
  return out;
}

function readScheme(raw: unknown): readonly (readonly [suffix: string, scheme: SecurityScheme])[] {
  const s = unwrapped(object(raw), 'scheme');
  const wrapped = [...KIND_OF_TYPE.values()].find((kind) => isRaw(s[kind] ?? s[SNAKE[kind]]));
  const kind = wrapped ?? oneOf(s.type, 'type', KIND_OF_TYPE);
  const body = wrapped === undefined ? s : object(s[wrapped] ?? s[SNAKE[wrapped]]);
  if (kind !== 'oauth2SecurityScheme') return [['', readSimple(kind, body)]];
  const flows = readFlows(body.flows);
  const url = textIf(body.oauth2MetadataUrl ?? body.oauth2_metadata_url, 'oauth2MetadataUrl');
  return flows.map(([name, flow]) => {
    const scheme: OAuth2SecurityScheme = { ...described(body), flows: flow, ...(url ? { oauth2MetadataUrl: url } : {}) };
    return [flows.length === 1 ? '' : `.${name}`, { oauth2SecurityScheme: scheme }];
  });
}

/** @a2a-js/sdk 1.3.0 serves its public card as it lies in memory: a union is `{<name>: {$case, value}}` there. */
function unwrapped(raw: Raw, name: string): Raw {
  const union = raw[name];
  return isRaw(union) && typeof union.$case === 'string' ? { [union.$case]: union.value } : raw;
}

function readSimple(kind: Exclude<Kind, 'oauth2SecurityScheme'>, s: Raw): SecurityScheme {
  switch (kind) {
    case 'apiKeySecurityScheme': {
      const scheme: ApiKeySecurityScheme = {
        ...described(s),
        location: oneOf(s.location ?? s.in ?? s.in_, 'location', LOCATIONS), // `in_`: a2a-sdk 0.2.5 for Python
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

const LOCATIONS: ReadonlyMap<unknown, ApiKeySecurityScheme['location']> = new Map([
  ['query', 'query'],
  ['header', 'header'],
  ['cookie', 'cookie'],
]);

function readFlows(raw: unknown): readonly (readonly [string, OAuthFlows])[] {
  const f = unwrapped(member(raw, 'flows', object, undefined as never), 'flow');
  const out: (readonly [string, OAuthFlows])[] = [];
  const add = (name: string, value: unknown, read: (flow: Raw) => OAuthFlows) => {
    if (isRaw(value)) out.push([name, member(value, `flows.${name}`, (flow) => read(object(flow)), undefined as never)]);
  };
  add('authorizationCode', f.authorizationCode ?? f.authorization_code, (flow) => {
    const pkce = (flow.pkceRequired ?? flow.pkce_required) === true;
    const code: AuthorizationCodeFlow = { authorizationUrl: authorizationUrl(flow), tokenUrl: tokenUrl(flow), ...scoped(flow) };
    return { authorizationCode: pkce ? { ...code, pkceRequired: true } : code };
  });
  add('clientCredentials', f.clientCredentials ?? f.client_credentials, (flow) => {
    const credentials: ClientCredentialsFlow = { tokenUrl: tokenUrl(flow), ...scoped(flow) };
    return { clientCredentials: credentials };
  });
  add('deviceCode', f.deviceCode ?? f.device_code, (flow) => {
    const url = text(flow.deviceAuthorizationUrl ?? flow.device_authorization_url, 'deviceAuthorizationUrl');
    const device: DeviceCodeFlow = { deviceAuthorizationUrl: url, tokenUrl: tokenUrl(flow), ...scoped(flow) };
    return { deviceCode: device };
  });
  add('implicit', f.implicit, (flow) => {
    const implicit: ImplicitFlow = { authorizationUrl: authorizationUrl(flow), ...scoped(flow) };
    return { implicit };
  });
  add('password', f.password, (flow) => {
    const password: PasswordFlow = { tokenUrl: tokenUrl(flow), ...scoped(flow) };
    return { password };
  });
  return out.length > 0 ? out : fail('flows', 'must have a flow');
}

function authorizationUrl(flow: Raw): string {
  return text(flow.authorizationUrl ?? flow.authorization_url, 'authorizationUrl');
}

function tokenUrl(flow: Raw): string {
  return text(flow.tokenUrl ?? flow.token_url, 'tokenUrl');
}

function scoped(flow: Raw): { scopes: { [scope: string]: string }; refreshUrl?: string } {
  const scopes: { [scope: string]: string } = Object.create(null);
  for (const [scope, about] of Object.entries(isRaw(flow.scopes) ? flow.scopes : {})) scopes[scope] = text(about, `scopes.${scope}`);
  const refreshUrl = textIf(flow.refreshUrl ?? flow.refresh_url, 'refreshUrl');
  return refreshUrl ? { scopes, refreshUrl } : { scopes };
}

function described(s: Raw): { description?: string } {
  const description = textIf(s.description, 'description');
  return description ? { description } : {};
}

/** `{schemes:{name:{list:[…]}}}` of 1.0, or `{name:[…]}` of 0.x. */
export function readRequirement(raw: unknown): SecurityRequirement {
  const r = object(raw);
  const schemes: { [name: string]: { list?: readonly string[] } } = Object.create(null);
  for (const [name, value] of Object.entries(isRaw(r.schemes) ? r.schemes : r)) {
    const scopes = texts(Array.isArray(value) ? value : (object(value).list ?? []), name);
    schemes[name] = scopes.length === 0 ? {} : { list: scopes };
  }
  return { schemes };
}

/** The 0.x spelling of a scheme. What 0.x has no word for (`pkceRequired`, `deviceCode`) stays: no 0.x schema forbids it. */
export function writeFlatScheme(scheme: SecurityScheme): Json {
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', in: location, ...rest };
  }
  if (scheme.httpAuthSecurityScheme !== undefined) return { type: 'http', ...scheme.httpAuthSecurityScheme };
  if (scheme.oauth2SecurityScheme !== undefined) return { type: 'oauth2', ...scheme.oauth2SecurityScheme } as unknown as JsonObject;
  if (scheme.openIdConnectSecurityScheme !== undefined) return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  if (scheme.mtlsSecurityScheme !== undefined) return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
  return unreachable(scheme);
}

export function writeFlatRequirement(requirement: SecurityRequirement): Json {
  return Object.fromEntries(Object.entries(requirement.schemes).map(([name, scopes]) => [name, scopes.list ?? []]));
}
