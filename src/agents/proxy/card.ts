import type { AgentCard, AgentExtension, CardVerdict, Metadata, Mutable } from '#protocol';

/** An extension of the card that names the origin and the outcome of checking its signature. */
export const PROXIED_CARD = 'urn:parley:a2a:proxied:v1';

/** How the card of a proxied agent is changed. */
export interface CardRewriting {
  /** The proxy's name. Default: the origin's name. */
  readonly name?: string;
  /** The origin's address, if callers may know it. */
  readonly url?: string;
  /** The outcome of checking the origin's signature. */
  readonly verdict?: CardVerdict;
}

/**
 * The origin's card, rewritten for the proxy. Its description stays: texts, skills, modes, provider.
 * Interfaces, security and signatures are removed, because they belong to another address and a copied
 * signature would be false. An extension tells whether the signature was valid, and the server that
 * publishes this card signs it itself.
 */
export function proxyCard(origin: AgentCard, { name, url, verdict }: CardRewriting = {}): AgentCard {
  const { securitySchemes: _, securityRequirements: __, signatures: ___, ...kept } = origin;
  const card: Mutable<AgentCard> = {
    ...kept,
    name: name ?? origin.name,
    supportedInterfaces: [],
    skills: origin.skills.map(({ securityRequirements: ____, ...skill }) => skill),
    capabilities: {
      ...origin.capabilities,
      streaming: true,
      pushNotifications: true,
      extensions: [...(origin.capabilities.extensions ?? []).map(optional), originExtension({ url, verdict })],
    },
  };
  return card;
}

/**
 * Extensions that the origin requires are requested by the proxy in every call, so callers do not have
 * to.
 */
function optional({ required: _, ...extension }: AgentExtension): AgentExtension {
  return extension;
}

/** The extension that tells callers whose agent this is. */
function originExtension({
  url,
  verdict,
}: {
  readonly url: string | undefined;
  readonly verdict: CardVerdict | undefined;
}): AgentExtension {
  const params: Record<string, Metadata[string]> = {};
  if (url !== undefined) params['origin'] = url;
  if (verdict !== undefined)
    params['signature'] = verdict.ok ? { verified: true, kid: verdict.kid, alg: verdict.alg } : { verified: false };
  return { uri: PROXIED_CARD, description: 'This agent is served on behalf of another node.', params };
}
