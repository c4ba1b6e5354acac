import type { TenantId } from './ids.ts';
import type { Metadata, OneOf } from './json.ts';

/** A2A 1.0.1 §4.4: the agent card and everything nested in it. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Ordered: the agent's preference first. */
  readonly supportedInterfaces: readonly AgentInterface[];
  readonly capabilities: AgentCapabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  readonly provider?: AgentProvider;
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme };
  /** Any one of these suffices; all schemes inside one are needed. */
  readonly securityRequirements?: readonly SecurityRequirement[];
  readonly signatures?: readonly AgentCardSignature[];
}

export interface AgentInterface {
  readonly url: string;
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or a URI. */
  readonly protocolBinding: string;
  /** `Major.Minor`. */
  readonly protocolVersion: string;
  readonly tenant?: TenantId;
}

export interface AgentProvider {
  readonly organization: string;
  readonly url: string;
}

export interface AgentCapabilities {
  readonly streaming?: boolean;
  readonly pushNotifications?: boolean;
  readonly extendedAgentCard?: boolean;
  readonly extensions?: readonly AgentExtension[];
}

export interface AgentExtension {
  readonly uri: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly params?: Metadata;
}

export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  readonly securityRequirements?: readonly SecurityRequirement[];
}

export interface SecurityRequirement {
  readonly schemes: { readonly [name: string]: { readonly list?: readonly string[] } };
}

export interface AgentCardSignature {
  readonly protected: string;
  readonly signature: string;
  readonly header?: Metadata;
}

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

export interface ApiKeySecurityScheme extends Described {
  readonly location: 'query' | 'header' | 'cookie';
  readonly name: string;
}

export interface HttpAuthSecurityScheme extends Described {
  readonly scheme: string;
  readonly bearerFormat?: string;
}

export interface OAuth2SecurityScheme extends Described {
  readonly flows: OAuthFlows;
  readonly oauth2MetadataUrl?: string;
}

export interface OpenIdConnectSecurityScheme extends Described {
  readonly openIdConnectUrl: string;
}

export interface MutualTlsSecurityScheme extends Described {}

/** One flow a scheme in 1.0. `implicit` and `password` are deprecated but still on the wire. */
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

export interface AuthorizationCodeFlow extends Scoped {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly pkceRequired?: boolean;
}

export interface ClientCredentialsFlow extends Scoped {
  readonly tokenUrl: string;
}

export interface DeviceCodeFlow extends Scoped {
  readonly deviceAuthorizationUrl: string;
  readonly tokenUrl: string;
}

export interface ImplicitFlow extends Scoped {
  readonly authorizationUrl: string;
}

export interface PasswordFlow extends Scoped {
  readonly tokenUrl: string;
}
