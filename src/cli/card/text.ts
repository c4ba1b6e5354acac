import type { AgentCard, SecurityScheme } from '#protocol';
import { block, field } from '../output/labels.ts';

/** What to show beside the card. */
export interface CardTextOptions {
  /** Undefined if it was not checked. */
  readonly signature: string | undefined;
  /** The address of the card. Undefined for a file. */
  readonly source: string | undefined;
  readonly verbose: boolean;
}

/** A card as text: identity, capabilities, interfaces and security. */
export function cardText(card: AgentCard, { signature, source, verbose }: CardTextOptions): string {
  const { streaming, pushNotifications, extendedAgentCard, extensions = [] } = card.capabilities;
  const can = [
    ...(streaming === true ? ['streaming'] : []),
    ...(pushNotifications === true ? ['push notifications'] : []),
    ...(extendedAgentCard === true ? ['extended card'] : []),
  ];
  return [
    field('Agent', card.name),
    field('Version', card.version),
    source === undefined ? '' : field('Source', source),
    card.provider === undefined ? '' : field('Provider', `${card.provider.organization} (${card.provider.url})`),
    ...card.supportedInterfaces.map(({ protocolBinding, protocolVersion, url, tenant }) =>
      field('Interface', `${protocolBinding} ${protocolVersion} at ${url}${tenant === undefined ? '' : ` (tenant ${tenant})`}`),
    ),
    field('Capabilities', can.length === 0 ? 'none' : can.join(', ')),
    ...extensions.map(({ uri, required }) => field('Extension', `${uri}${required === true ? ' (required)' : ''}`)),
    field('Input', card.defaultInputModes.join(', ')),
    field('Output', card.defaultOutputModes.join(', ')),
    ...Object.entries(card.securitySchemes ?? {}).map(([name, scheme]) => field('Scheme', `${name}: ${schemeText(scheme)}`)),
    ...(card.securityRequirements ?? []).map(({ schemes }) => field('Requires', Object.keys(schemes).join(' and ') || 'nothing')),
    ...card.skills.map(({ id, name }) => field('Skill', `${id}: ${name}`)),
    signature === undefined ? '' : field('Signature', signature),
    card.documentationUrl === undefined || !verbose ? '' : field('Documentation', card.documentationUrl),
    block('Description', card.description),
    ...(verbose ? card.skills.map(({ id, description }) => block(`Skill ${id}`, description)) : []),
  ].join('');
}

/** A security scheme in one line. */
function schemeText(scheme: SecurityScheme): string {
  if (scheme.apiKeySecurityScheme !== undefined)
    return `API key in ${scheme.apiKeySecurityScheme.location} ${scheme.apiKeySecurityScheme.name}`;
  if (scheme.httpAuthSecurityScheme !== undefined) return `HTTP ${scheme.httpAuthSecurityScheme.scheme}`;
  if (scheme.oauth2SecurityScheme !== undefined) return `OAuth 2 (${Object.keys(scheme.oauth2SecurityScheme.flows).join(', ')})`;
  if (scheme.openIdConnectSecurityScheme !== undefined) return `OpenID Connect at ${scheme.openIdConnectSecurityScheme.openIdConnectUrl}`;
  return 'mutual TLS';
}
