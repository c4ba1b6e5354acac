import type { AuthorizationServer } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import type { AgentCard, SecurityScheme } from '#protocol';
import { CliError } from '../command.ts';
import { reasonOf } from '../wire/debug.ts';
import type { Getting } from './tokens.ts';
import { requestOptions } from './tokens.ts';

export type Flow = 'device' | 'client-credentials';

/** A scheme of the card that a token can be got for. */
export interface Found {
  readonly name: string;
  readonly flow: Flow;
  readonly server: AuthorizationServer;
  /** Scopes that the card lists for it. */
  readonly scopes: readonly string[];
}

/** The scheme to log in by: the one that was named, or the first that can be used in the flow that was asked for. */
export async function findScheme(
  card: AgentCard,
  wanted: { readonly scheme: string | undefined; readonly flow: Flow | undefined },
  getting: Getting,
): Promise<Found> {
  const all = Object.entries(card.securitySchemes ?? {}).filter(([name]) => wanted.scheme === undefined || name === wanted.scheme);
  for (const [name, scheme] of all) {
    for (const found of await offersOf(name, scheme, getting)) {
      if (wanted.flow === undefined || found.flow === wanted.flow) return found;
    }
  }
  throw none(card, wanted);
}

async function offersOf(name: string, scheme: SecurityScheme, getting: Getting): Promise<readonly Found[]> {
  if (scheme.oauth2SecurityScheme !== undefined) {
    const { deviceCode, clientCredentials } = scheme.oauth2SecurityScheme.flows;
    if (deviceCode !== undefined) {
      const server = { ...serverAt(deviceCode.tokenUrl), device_authorization_endpoint: deviceCode.deviceAuthorizationUrl };
      return [{ name, flow: 'device', server, scopes: Object.keys(deviceCode.scopes) }];
    }
    if (clientCredentials === undefined) return [];
    return [
      { name, flow: 'client-credentials', server: serverAt(clientCredentials.tokenUrl), scopes: Object.keys(clientCredentials.scopes) },
    ];
  }
  if (scheme.openIdConnectSecurityScheme === undefined) return [];
  const server = await discovered(scheme.openIdConnectSecurityScheme.openIdConnectUrl, getting);
  const scopes = ['openid', 'offline_access'].filter((scope) => server.scopes_supported?.includes(scope) ?? scope === 'openid');
  const device: readonly Found[] = server.device_authorization_endpoint === undefined ? [] : [{ name, flow: 'device', server, scopes }];
  return [...device, { name, flow: 'client-credentials', server, scopes: [] }];
}

function serverAt(tokenUrl: string): AuthorizationServer {
  return { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
}

/** OpenID Connect Discovery; the card has the whole address of the document, or only the issuer's. */
async function discovered(url: string, getting: Getting): Promise<AuthorizationServer> {
  const issuer = new URL(url.replace(/\/\.well-known\/openid-configuration$/, '') || url);
  try {
    const response = await oauth.discoveryRequest(issuer, { ...requestOptions(issuer.href, getting), algorithm: 'oidc' });
    return await oauth.processDiscoveryResponse(issuer, response);
  } catch (thrown) {
    throw new CliError(`the OpenID provider at ${issuer.href} can't be used: ${reasonOf(thrown)}`, {
      code: 'A2ACLI_ERR_AUTH_FAILED',
      hint: 'tell those who run the agent',
      exit: 4,
      cause: thrown,
    });
  }
}

function none(card: AgentCard, { scheme, flow }: { readonly scheme: string | undefined; readonly flow: Flow | undefined }): CliError {
  const names = Object.keys(card.securitySchemes ?? {});
  if (scheme !== undefined && !names.includes(scheme)) {
    return new CliError(`the card has no scheme ${scheme}`, {
      meant: { word: scheme, known: names },
      hint: `it has: ${names.join(', ') || 'none'}`,
      exit: 2,
    });
  }
  return new CliError(`${card.name} offers no login${flow === undefined ? '' : ` by ${flow}`}`, {
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: names.length === 0 ? 'its card asks for nothing' : `its schemes are ${names.join(', ')}; parley card get shows them`,
    exit: 4,
  });
}
