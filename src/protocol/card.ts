import type { TenantId } from './ids.ts';
import type { Metadata, OneOf } from './json.ts';

/**
 * Describes an agent: what it can do and where to reach it (A2A 1.0.1 §4.4). Usually served at
 * `/.well-known/agent-card.json`.
 */
export interface AgentCard {
  /** For people. Not unique. */
  readonly name: string;
  /** What the agent does. Clients and models choose agents by it. */
  readonly description: string;
  /** Version of the agent, not of the protocol. */
  readonly version: string;
  /** Endpoints, the preferred one first. */
  readonly supportedInterfaces: readonly AgentInterface[];
  /** Optional features of the protocol that the agent supports. */
  readonly capabilities: AgentCapabilities;
  /** Media types that the agent accepts, for example `text/plain`. A skill may override them. */
  readonly defaultInputModes: readonly string[];
  /** Media types that the agent produces. A skill may override them. */
  readonly defaultOutputModes: readonly string[];
  /** What the agent can do, one by one. */
  readonly skills: readonly AgentSkill[];
  /** Who offers the agent. */
  readonly provider?: AgentProvider;
  /** A page about the agent, for people. */
  readonly documentationUrl?: string;
  /** A picture, for programs that list agents. */
  readonly iconUrl?: string;
  /** Ways to authenticate, by name. */
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme };
  /** Alternatives: satisfying any one of them suffices. Within one, all its schemes are needed. */
  readonly securityRequirements?: readonly SecurityRequirement[];
  /** Signatures over the card; see `signCard` and `verifyCard`. */
  readonly signatures?: readonly AgentCardSignature[];
}

/** One endpoint of an agent: a URL, with the binding and the protocol version that it speaks. */
export interface AgentInterface {
  /** Where requests go. */
  readonly url: string;
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or a URI. */
  readonly protocolBinding: string;
  /** `Major.Minor`, for example `1.0`. */
  readonly protocolVersion: string;
  /** Value for `tenant` in requests to this endpoint. */
  readonly tenant?: TenantId;
}

/** The organisation that offers the agent. */
export interface AgentProvider {
  /** Name of the organisation. */
  readonly organization: string;
  /** Its home page. */
  readonly url: string;
}

/** Optional protocol features of the agent. An absent member means false. */
export interface AgentCapabilities {
  /** It answers `SendStreamingMessage` and `SubscribeToTask`. */
  readonly streaming?: boolean;
  /** It delivers events to webhooks. */
  readonly pushNotifications?: boolean;
  /** Authenticated callers can get a card with more details. */
  readonly extendedAgentCard?: boolean;
  /** Extensions of the protocol that it supports. */
  readonly extensions?: readonly AgentExtension[];
}

/** An extension of the protocol that the agent supports. */
export interface AgentExtension {
  /** Identifies the extension and its version. */
  readonly uri: string;
  /** How this agent uses it. */
  readonly description?: string;
  /** Whether callers must activate the extension. */
  readonly required?: boolean;
  /** Settings, as the extension defines them. */
  readonly params?: Metadata;
}

/** One thing that the agent can do. Clients and models choose an agent by its skills. */
export interface AgentSkill {
  /** Unique within the card. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** What the skill does, for people and models. */
  readonly description: string;
  /** Keywords. */
  readonly tags: readonly string[];
  /** Prompts that the skill handles. */
  readonly examples?: readonly string[];
  /** Overrides the card's `defaultInputModes`. */
  readonly inputModes?: readonly string[];
  /** Overrides the card's `defaultOutputModes`. */
  readonly outputModes?: readonly string[];
  /** Overrides the card's `securityRequirements` for this skill. */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** Security schemes that are needed together, each with its scopes. */
export interface SecurityRequirement {
  /** Scheme names of the card's `securitySchemes`, each with the scopes that are needed. */
  readonly schemes: { readonly [name: string]: { readonly list?: readonly string[] } };
}

/** A detached JWS over the card (A2A 1.0.1 §8.4). */
export interface AgentCardSignature {
  /** The protected header, base64url. */
  readonly protected: string;
  /** The signature, base64url. */
  readonly signature: string;
  /** The unprotected header. Verification ignores it. */
  readonly header?: Metadata;
}

/** One way to authenticate. */
export type SecurityScheme = OneOf<{
  apiKeySecurityScheme: ApiKeySecurityScheme;
  httpAuthSecurityScheme: HttpAuthSecurityScheme;
  oauth2SecurityScheme: OAuth2SecurityScheme;
  openIdConnectSecurityScheme: OpenIdConnectSecurityScheme;
  mtlsSecurityScheme: MutualTlsSecurityScheme;
}>;

interface Described {
  readonly description?: string;
}

/** An API key in a query parameter, a header or a cookie with this name. */
export interface ApiKeySecurityScheme extends Described {
  readonly location: 'query' | 'header' | 'cookie';
  readonly name: string;
}

/** HTTP authentication, for example `Bearer` or `Basic`. */
export interface HttpAuthSecurityScheme extends Described {
  readonly scheme: string;
  readonly bearerFormat?: string;
}

/** OAuth 2.0. */
export interface OAuth2SecurityScheme extends Described {
  readonly flows: OAuthFlows;
  readonly oauth2MetadataUrl?: string;
}

/** OpenID Connect, by the URL of its discovery document. */
export interface OpenIdConnectSecurityScheme extends Described {
  readonly openIdConnectUrl: string;
}

/** A TLS client certificate. */
export interface MutualTlsSecurityScheme extends Described {}

/**
 * The flow of an OAuth scheme; 1.0 allows one for each scheme. `implicit` and `password` are
 * deprecated, but cards still contain them.
 */
export type OAuthFlows = OneOf<{
  authorizationCode: AuthorizationCodeFlow;
  clientCredentials: ClientCredentialsFlow;
  deviceCode: DeviceCodeFlow;
  implicit: ImplicitFlow;
  password: PasswordFlow;
}>;

interface Scoped {
  readonly scopes: { readonly [scope: string]: string };
  readonly refreshUrl?: string;
}

/** A person approves in a browser (RFC 6749 §4.1). */
export interface AuthorizationCodeFlow extends Scoped {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly pkceRequired?: boolean;
}

/** A program uses its own credentials (RFC 6749 §4.4). */
export interface ClientCredentialsFlow extends Scoped {
  readonly tokenUrl: string;
}

/** A person approves on another device (RFC 8628). */
export interface DeviceCodeFlow extends Scoped {
  readonly deviceAuthorizationUrl: string;
  readonly tokenUrl: string;
}

/** Deprecated: tokens in the URL of a browser. */
export interface ImplicitFlow extends Scoped {
  readonly authorizationUrl: string;
}

/** Deprecated: the client handles the person's password. */
export interface PasswordFlow extends Scoped {
  readonly tokenUrl: string;
}
