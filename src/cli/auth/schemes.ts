import type { AgentCard } from '#protocol';
import { oauthEndpoints } from '../../client/adapters/oauth.ts';
import { CliError } from '../command.ts';
import type { Login } from '../settings/tokens.ts';

export type LoginFlow = Login['flow'];
/** A scheme of the card for which a token can be obtained, and the flow to use. */
export type Offer = Pick<Login, 'scheme' | 'flow' | 'source' | 'scopes'>;

interface Wanted {
  readonly scheme: string | undefined;
  readonly flow: LoginFlow | undefined;
}

/** The scheme that the caller named, or the first one with the wanted flow. */
export function findOffer(card: AgentCard, { scheme, flow }: Wanted): Offer {
  const found = offersOf(card).find(
    (offer) => (scheme === undefined || offer.scheme === scheme) && (flow === undefined || offer.flow === flow),
  );
  if (found === undefined) throw none(card, { scheme, flow });
  return found;
}

/** With OpenID Connect the provider decides about flows, so both can be tried. */
function offersOf(card: AgentCard): readonly Offer[] {
  const oauth = oauthEndpoints(card).flatMap(({ scheme, flow, source, scopes }): readonly Offer[] => {
    if (flow === 'authorizationCode') return [];
    return [{ scheme, flow: flow === 'deviceCode' ? 'device' : 'client-credentials', source, scopes }];
  });
  const connect = Object.entries(card.securitySchemes ?? {}).flatMap(([scheme, { openIdConnectSecurityScheme }]): readonly Offer[] => {
    if (openIdConnectSecurityScheme === undefined) return [];
    const source = { issuer: openIdConnectSecurityScheme.openIdConnectUrl.replace(/\/\.well-known\/openid-configuration\/?$/, '') };
    return [
      { scheme, flow: 'device', source, scopes: ['openid'] },
      { scheme, flow: 'client-credentials', source, scopes: [] },
    ];
  });
  return [...oauth, ...connect];
}

/** The error for a card without a usable OAuth scheme. */
function none(card: AgentCard, { scheme, flow }: Wanted): CliError {
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
