import type { AgentCard, AgentExtension, CardVerdict, Metadata, Mutable } from '#protocol';

/** Says on a card whose agent it really is, and whether its own card was signed. */
export const PROXIED_CARD = 'urn:parley:a2a:proxied:v1';

export interface CardRewriting {
  /** As the proxy is called; the origin's name otherwise. */
  readonly name?: string;
  /** Where the origin is, if callers may know. */
  readonly url?: string;
  /** What was found of the origin's signature. */
  readonly verdict?: CardVerdict;
}

/**
 * The origin's card as ours. What it says of itself stays: its words, skills, modes, provider. What is about reaching it goes: interfaces,
 * security and signatures are those of another address, and a copied signature would be a false one (reference/ecosystem §2, 15). That it was
 * good is said in an extension, and the server that publishes this card signs it as its own.
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

/** What the origin requires of its callers the proxy does: it asks for the extension in every call. */
function optional({ required: _, ...extension }: AgentExtension): AgentExtension {
  return extension;
}

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
