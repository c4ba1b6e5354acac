import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import { isKeyOf, keysOf, tableOf } from './members.ts';

/**
 * The members of a 1.0 card and their presence rules, from a2a.proto 1.0.1. Suffix `!`: field_behavior
 * REQUIRED. `?`: proto3 `optional`. `|`: member of a oneof. None: a plain field, for which proto3 can't
 * tell the default value from "not set". `[]` is a list, `{}` a map by name. Used to remove everything
 * that 1.0 does not know from a card, and to compute what a signature covers.
 */
const TYPES = {
  AgentCard: {
    name: 'string!',
    description: 'string!',
    version: 'string!',
    supportedInterfaces: 'AgentInterface[]!',
    capabilities: 'AgentCapabilities!',
    defaultInputModes: 'string[]!',
    defaultOutputModes: 'string[]!',
    skills: 'AgentSkill[]!',
    provider: 'AgentProvider',
    documentationUrl: 'string?',
    iconUrl: 'string?',
    securitySchemes: 'SecurityScheme{}',
    securityRequirements: 'SecurityRequirement[]',
    signatures: 'AgentCardSignature[]',
  },
  AgentInterface: { url: 'string!', protocolBinding: 'string!', protocolVersion: 'string!', tenant: 'string' },
  AgentProvider: { organization: 'string!', url: 'string!' },
  AgentCapabilities: {
    streaming: 'bool?',
    pushNotifications: 'bool?',
    extendedAgentCard: 'bool?',
    extensions: 'AgentExtension[]',
  },
  AgentExtension: { uri: 'string', description: 'string', required: 'bool', params: 'Struct' },
  AgentSkill: {
    id: 'string!',
    name: 'string!',
    description: 'string!',
    tags: 'string[]!',
    examples: 'string[]',
    inputModes: 'string[]',
    outputModes: 'string[]',
    securityRequirements: 'SecurityRequirement[]',
  },
  AgentCardSignature: { protected: 'string!', signature: 'string!', header: 'Struct' },
  StringList: { list: 'string[]' },
  SecurityRequirement: { schemes: 'StringList{}' },
  SecurityScheme: {
    apiKeySecurityScheme: 'APIKeySecurityScheme|',
    httpAuthSecurityScheme: 'HTTPAuthSecurityScheme|',
    oauth2SecurityScheme: 'OAuth2SecurityScheme|',
    openIdConnectSecurityScheme: 'OpenIdConnectSecurityScheme|',
    mtlsSecurityScheme: 'MutualTlsSecurityScheme|',
  },
  APIKeySecurityScheme: { description: 'string', location: 'string!', name: 'string!' },
  HTTPAuthSecurityScheme: { description: 'string', scheme: 'string!', bearerFormat: 'string' },
  OAuth2SecurityScheme: { description: 'string', flows: 'OAuthFlows!', oauth2MetadataUrl: 'string' },
  OpenIdConnectSecurityScheme: { description: 'string', openIdConnectUrl: 'string!' },
  MutualTlsSecurityScheme: { description: 'string' },
  OAuthFlows: {
    authorizationCode: 'AuthorizationCodeOAuthFlow|',
    clientCredentials: 'ClientCredentialsOAuthFlow|',
    deviceCode: 'DeviceCodeOAuthFlow|',
    implicit: 'ImplicitOAuthFlow|',
    password: 'PasswordOAuthFlow|',
  },
  AuthorizationCodeOAuthFlow: {
    authorizationUrl: 'string!',
    tokenUrl: 'string!',
    refreshUrl: 'string',
    scopes: 'string{}!',
    pkceRequired: 'bool',
  },
  ClientCredentialsOAuthFlow: { tokenUrl: 'string!', refreshUrl: 'string', scopes: 'string{}!' },
  DeviceCodeOAuthFlow: { deviceAuthorizationUrl: 'string!', tokenUrl: 'string!', refreshUrl: 'string', scopes: 'string{}!' },
  ImplicitOAuthFlow: { authorizationUrl: 'string', refreshUrl: 'string', scopes: 'string{}' },
  PasswordOAuthFlow: { tokenUrl: 'string', refreshUrl: 'string', scopes: 'string{}' },
} as const;

/** Name of a message type within the card. */
export type CardType = keyof typeof TYPES;

/** One row of the table, parsed. */
export interface CardField {
  readonly name: string;
  /** The snake_case spelling, which ProtoJSON also accepts on input. */
  readonly snake: string;
  /** Type of the member if it is a message of the table. */
  readonly message: CardType | undefined;
  /** Type of the member otherwise. `Struct` is a free-form object. */
  readonly scalar: 'string' | 'bool' | 'Struct' | undefined;
  readonly shape: 'one' | 'list' | 'map';
  readonly presence: 'required' | 'optional' | 'oneof' | 'plain';
}

const SHAPES = { '[]': 'list', '{}': 'map' } as const;
const PRESENCES = { '!': 'required', '?': 'optional', '|': 'oneof' } as const;

/** The table by type and by member name. */
export const CARD_FIELDS: Readonly<Record<CardType, ReadonlyMap<string, CardField>>> = tableOf(
  keysOf(TYPES),
  (type) => new Map(Object.entries(TYPES[type]).map(([name, code]) => [name, parseField(name, code)])),
);

/** Reads the short code of a member: its type, `[]` or `{}`, and whether it must be present. */
function parseField(name: string, code: string): CardField {
  const [, type = '', shape = '', presence = ''] = /^(\w+)(\[\]|\{\})?([!?|])?$/.exec(code) ?? [];
  return {
    name,
    snake: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    message: isKeyOf(TYPES, type) ? type : undefined,
    scalar: type === 'string' || type === 'bool' || type === 'Struct' ? type : undefined,
    shape: isKeyOf(SHAPES, shape) ? SHAPES[shape] : 'one',
    presence: isKeyOf(PRESENCES, presence) ? PRESENCES[presence] : 'plain',
  };
}

/**
 * The card as A2A 1.0 sees it: only members that 1.0 knows, in camelCase, with null treated as absent.
 * `keep` can remove further members. Values of a wrong type pass unchanged: this is a view, not a
 * check.
 */
export function cardView(card: JsonObject, keep: (field: CardField, value: Json) => boolean = () => true): JsonObject {
  return viewOf(card, 'AgentCard', keep);
}

/** The members that the schema knows, in camelCase, as far as `keep` wants them. */
function viewOf(raw: JsonObject, type: CardType, keep: (field: CardField, value: Json) => boolean): JsonObject {
  const out: Record<string, Json> = {};
  for (const field of CARD_FIELDS[type].values()) {
    const value = raw[field.name] ?? raw[field.snake];
    if (value === undefined || value === null) continue;
    const seen = memberView(value, field, keep);
    if (keep(field, seen)) out[field.name] = seen;
  }
  return out;
}

function memberView(value: Json, { message, shape }: CardField, keep: (field: CardField, value: Json) => boolean): Json {
  if (message === undefined) return value;
  const one = (item: Json): Json => (isObject(item) ? viewOf(item, message, keep) : item);
  if (shape === 'list' && Array.isArray(value)) return value.map(one);
  if (shape === 'map' && isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, one(item)]));
  return one(value);
}
